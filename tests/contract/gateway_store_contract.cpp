#include "contract/gateway_store_contract.hpp"

namespace sluice::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using Verdict = Reserved::Verdict;
using namespace std::string_literals;

MATCHER_P(Is, verdict, "") { return arg.verdict == verdict; }

TEST_P(GatewayStoreContract, CountsWhatItGrantsAndDeniesTheRest) {
    const auto all = reserve_all({message(kAnn), message(kAnn), message(kAnn), message(kAnn)});

    EXPECT_THAT(all, ElementsAre(Is(Verdict::Granted), Is(Verdict::Granted), Is(Verdict::Granted),
                                 Is(Verdict::Denied)));
    EXPECT_EQ(all.back().retry_after, 5min);
    EXPECT_FALSE(all.back().id);
    EXPECT_EQ(counted(), 3);
}

TEST_P(GatewayStoreContract, DecidesForEachUserApart) {
    set_user(kBob, {1, 5});

    const auto all = reserve_all({message(kAnn), message(kBob), message(kBob), message(kAnn)});

    EXPECT_THAT(all, ElementsAre(Is(Verdict::Granted), Is(Verdict::Granted), Is(Verdict::Denied),
                                 Is(Verdict::Granted)));
    EXPECT_EQ(counted(kAnn), 2);
    EXPECT_EQ(counted(kBob), 1);
}

TEST_P(GatewayStoreContract, KnowsOnlyUsersWhoseTermsWereSet) {
    EXPECT_THAT(reserve(message({8})), Is(Verdict::UnknownUser));
    EXPECT_FALSE(store().find_user({8}).value());
}

TEST_P(GatewayStoreContract, BeginsANewWindowWithTheFirstMessageAfterTheOldOne) {
    reserve_all({message(kAnn), message(kAnn), message(kAnn)});
    const Instant before = user().start;
    pass(5min);

    EXPECT_THAT(reserve(message(kAnn)), Is(Verdict::Granted));

    EXPECT_EQ(counted(), 1);
    EXPECT_EQ(user().start, before + 5min);
}

TEST_P(GatewayStoreContract, BeginsANewWindowWhenTheTermsAreSet) {
    reserve_all({message(kAnn), message(kAnn), message(kAnn)});
    pass(1min);

    const UserWindow window = set_user(kAnn, {1, 2});

    EXPECT_EQ(window.count, 0);
    EXPECT_EQ(user(), window);
    EXPECT_THAT(reserve_all({message(kAnn), message(kAnn)}),
                ElementsAre(Is(Verdict::Granted), Is(Verdict::Denied)));
}

TEST_P(GatewayStoreContract, GivesThePlaceOfAMessageBackThatWasNotPublished) {
    const auto reserved = reserve(message(kAnn));

    settle(reserved, Published::NotPublished);

    EXPECT_EQ(counted(), 0);
    EXPECT_EQ(state(*reserved.id), MessageState::Failed);
}

TEST_P(GatewayStoreContract, GivesAPlaceBackOnce) {
    const auto reserved = reserve_all({message(kAnn), message(kAnn)}).front();

    settle(reserved, Published::NotPublished);
    settle(reserved, Published::NotPublished);

    EXPECT_EQ(counted(), 1);
}

TEST_P(GatewayStoreContract, GivesNoPlaceBackIntoALaterWindow) {
    const auto reserved = reserve(message(kAnn));
    pass(5min);
    reserve(message(kAnn));

    settle(reserved, Published::NotPublished);

    EXPECT_EQ(counted(), 1);
    EXPECT_EQ(state(*reserved.id), MessageState::Failed);
}

TEST_P(GatewayStoreContract, KeepsCountingWhatNobodyKnows) {
    const auto reserved = reserve(message(kAnn));

    settle(reserved, Published::Unknown);

    EXPECT_EQ(counted(), 1);
    EXPECT_EQ(state(*reserved.id), MessageState::Queued);
}

TEST_P(GatewayStoreContract, KnowsARetryOfWhatWasAcknowledged) {
    const auto first = reserve(named("r"));
    settle(first, Published::Acknowledged);
    pass(23h);

    const auto again = reserve(named("r"));

    EXPECT_THAT(again, Is(Verdict::Accepted));
    EXPECT_EQ(again.id, first.id);
    EXPECT_EQ(counted(), 1);
}

TEST_P(GatewayStoreContract, PublishesARetryAgainWithoutCountingItWhileItsWindowLasts) {
    const auto first = reserve(named("r"));
    pass(5min - 1ms);

    const auto again = reserve(named("r"));

    EXPECT_THAT(again, Is(Verdict::Standing));
    EXPECT_EQ(again.id, first.id);
    EXPECT_EQ(counted(), 1);
}

TEST_P(GatewayStoreContract, CountsARetryAnewWhenItsWindowIsOver) {
    const auto first = reserve(named("r"));
    pass(5min);

    const auto again = reserve(named("r"));

    EXPECT_THAT(again, Is(Verdict::Granted));
    EXPECT_EQ(again.id, first.id);
    EXPECT_EQ(counted(), 1);
}

TEST_P(GatewayStoreContract, CountsARetryAnewWhenItsPlaceWasGivenBack) {
    const auto first = reserve(named("r"));
    settle(first, Published::NotPublished);

    const auto again = reserve(named("r"));

    EXPECT_THAT(again, Is(Verdict::Granted));
    EXPECT_EQ(again.id, first.id);
    EXPECT_EQ(counted(), 1);
    EXPECT_EQ(state(*again.id), MessageState::Queued);
}

TEST_P(GatewayStoreContract, DeniesARetryThatMustBeCountedAnewAndFindsNoRoom) {
    settle(reserve(named("r")), Published::NotPublished);
    reserve_all({message(kAnn), message(kAnn), message(kAnn)});

    EXPECT_THAT(reserve(named("r")), Is(Verdict::Denied));
}

TEST_P(GatewayStoreContract, NeverGivesBackWhatWasHandedOutTwice) {
    const auto first = reserve(named("r"));
    const auto again = reserve(named("r"));

    settle(first, Published::NotPublished);
    settle(again, Published::Acknowledged);

    EXPECT_EQ(counted(), 1);
    EXPECT_THAT(reserve(named("r")), Is(Verdict::Accepted));
}

TEST_P(GatewayStoreContract, LeavesAReservationAloneThatWasMadeAfterTheOneThatEnds) {
    const auto first = reserve(named("r"));
    pass(5min);
    const auto again = reserve(named("r"));

    settle(first, Published::NotPublished);

    EXPECT_EQ(counted(), 1);
    EXPECT_THAT(reserve(named("r")), Is(Verdict::Standing));
    EXPECT_EQ(state(*again.id), MessageState::Queued);
}

TEST_P(GatewayStoreContract, KnowsARequestWithinTheBatchThatBringsIt) {
    const auto all = reserve_all({named("r"), named("r"), named("s")});

    EXPECT_THAT(all, ElementsAre(Is(Verdict::Granted), Is(Verdict::Standing), Is(Verdict::Granted)));
    EXPECT_EQ(all[1].id, all[0].id);
    EXPECT_EQ(counted(), 2);
}

TEST_P(GatewayStoreContract, KeepsRequestsOfUsersApart) {
    set_user(kBob, {3, 5});

    const auto all = reserve_all({named("r", message(kAnn)), named("r", message(kBob))});

    EXPECT_THAT(all, ElementsAre(Is(Verdict::Granted), Is(Verdict::Granted)));
    EXPECT_NE(all[0].id, all[1].id);
}

TEST_P(GatewayStoreContract, ForgetsARequestAfterADay) {
    const auto first = reserve(named("r"));
    settle(first, Published::Acknowledged);
    pass(24h);

    const auto again = reserve(named("r"));

    EXPECT_THAT(again, Is(Verdict::Granted));
    EXPECT_NE(again.id, first.id);
}

TEST_P(GatewayStoreContract, PutsWhatItGrantsIntoTheOutboxInOrder) {
    MessageDraft full = valid_for(10min, named("r", message(kAnn, "one")));
    full.to = Party::make("+49");
    full.from = Party::make("Sluice");
    const auto all = reserve_all({full, message(kAnn, "two\r\n\0x"s)}, Handover::Outbox);

    const auto found = waiting();

    ASSERT_THAT(found, SizeIs(2));
    EXPECT_EQ(found[0].message.id, *all[0].id);
    EXPECT_EQ(found[0].message.user, kAnn);
    EXPECT_EQ(found[0].message.text, "one");
    EXPECT_EQ(found[0].message.to, full.to);
    EXPECT_EQ(found[0].message.from, full.from);
    EXPECT_EQ(found[0].message.expires, store().outbox().time() + 10min);
    EXPECT_EQ(found[1].message.text, "two\r\n\0x"s);
    EXPECT_LT(found[0].number, found[1].number);
    EXPECT_THAT(waiting(1), SizeIs(1));
}

TEST_P(GatewayStoreContract, AcknowledgesWhatGoesIntoTheOutbox) {
    reserve(named("r"), Handover::Outbox);

    EXPECT_THAT(reserve(named("r"), Handover::Outbox), Is(Verdict::Accepted));

    EXPECT_THAT(waiting(), SizeIs(1));
    EXPECT_EQ(counted(), 1);
}

TEST_P(GatewayStoreContract, TakesOverWhatWasReservedForAPublisherThatIsGone) {
    const auto first = reserve(named("r"), Handover::Publisher);

    const auto again = reserve(named("r"), Handover::Outbox);

    EXPECT_THAT(again, Is(Verdict::Accepted));
    EXPECT_EQ(waiting().at(0).message.id, *first.id);
    EXPECT_EQ(counted(), 1);
}

TEST_P(GatewayStoreContract, HasNothingOfADeniedMessage) {
    reserve_all({message(kAnn), message(kAnn), message(kAnn)}, Handover::Outbox);

    reserve(named("r"), Handover::Outbox);

    EXPECT_THAT(waiting(), SizeIs(3));
    pass(5min);
    EXPECT_THAT(reserve(named("r"), Handover::Outbox), Is(Verdict::Granted));
}

TEST_P(GatewayStoreContract, ClosesWhatHasLeftTheOutbox) {
    reserve_all({message(kAnn, "one"), message(kAnn, "two"), message(kAnn, "three")}, Handover::Outbox);
    const auto found = waiting();
    pass(1s);

    close(found.at(0), MessageState::Sent);
    close(found.at(1), MessageState::Expired);
    close(found.at(0), MessageState::Sent);

    EXPECT_EQ(state(found[0].message.id), MessageState::Sent);
    EXPECT_EQ(state(found[1].message.id), MessageState::Expired);
    EXPECT_EQ(state(found[2].message.id), MessageState::Queued);
    const auto story = *store().find_message(found[0].message.id).value();
    EXPECT_EQ(story.changed - story.queued, 1s);
    ASSERT_THAT(waiting(), SizeIs(1));
    EXPECT_EQ(waiting()[0].message.text, "three");
}

TEST_P(GatewayStoreContract, GivesNumbersThatNoneHadWhenTheOutboxWasEmptied) {
    reserve(message(kAnn, "one"), Handover::Outbox);
    const auto first = waiting().at(0);
    close(first, MessageState::Sent);

    reserve(message(kAnn, "two"), Handover::Outbox);

    ASSERT_THAT(waiting(), SizeIs(1));
    EXPECT_GT(waiting()[0].number, first.number);
}

TEST_P(GatewayStoreContract, KnowsAllOfItAfterARestart) {
    const auto acknowledged = reserve(named("a"));
    settle(acknowledged, Published::Acknowledged);
    const auto standing = reserve(named("s"));
    reserve(message(kAnn, "waits"), Handover::Outbox);
    const UserWindow before = user();
    if (!world_->restart()) {
        return;  // Nothing of this store is durable, and it says so.
    }

    EXPECT_EQ(user(), before);
    EXPECT_THAT(reserve(named("a")), Is(Verdict::Accepted));
    const auto again = reserve(named("s"));
    EXPECT_THAT(again, Is(Verdict::Standing));
    EXPECT_EQ(again.id, standing.id);
    ASSERT_THAT(waiting(), SizeIs(1));
    EXPECT_EQ(waiting()[0].message.text, "waits");
    EXPECT_THAT(reserve(message(kAnn)), Is(Verdict::Denied));
}

TEST_P(GatewayStoreContract, TellsNothingOfMessagesThatItDoesNotKnow) {
    EXPECT_EQ(state(message_id("none")), std::nullopt);
}

TEST_P(GatewayStoreContract, TellsOfAMessageForAWeek) {
    const auto reserved = reserve(message(kAnn));
    pass(kMessageMemory - 1s);
    EXPECT_EQ(state(*reserved.id), MessageState::Queued);

    pass(1s);

    EXPECT_EQ(state(*reserved.id), std::nullopt);
}

TEST_P(GatewayStoreContract, IsAvailableAndHasAnEmptyOutboxAtFirst) {
    EXPECT_TRUE(store().available());
    EXPECT_THAT(waiting(), IsEmpty());
}

}  // namespace
}  // namespace sluice::test
