#include "app/gateway/gateway_service.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/gateway/gateway_ledger.hpp"
#include "store/memory/memory_gateway_tables.hpp"
#include "support/gateway_words.hpp"
#include "support/hand_clock.hpp"
#include "support/recording_log.hpp"
#include "support/virtual_runtime.hpp"

namespace sluice::test {
namespace {

using testing::Each;
using testing::IsEmpty;
using testing::SizeIs;
using Call = FaultyGatewayTables::Call;

// The service over a ledger in memory, in one thread on a clock that jumps.
class GatewayServiceTest : public testing::Test {
protected:
    explicit GatewayServiceTest(bool publishing = true, GatewayServiceOptions options = {})
        : service_{options,
                   {*store_, publishing ? &publisher_ : nullptr, metrics_, log_, runtime_,
                    [this] { return message_id(++drawn_); }, [this] { ++nudges_; }}} {
        EXPECT_TRUE(store_->put_user(kAnn, {3, 5}));
    }
    ~GatewayServiceTest() override { service_.stop(); }

    // The answers come as they are given.
    void begin(MessageDraft draft) {
        const std::size_t place = answers_.size();
        answers_.emplace_back();
        service_.send(std::move(draft),
                      [this, place](SendAnswer answer) { answers_[place] = std::move(answer); });
    }
    // Until everybody has done what can be done now.
    void let_run() { runtime_.sleep(1ms); }
    SendAnswer send(MessageDraft draft = message(kAnn)) {
        begin(std::move(draft));
        const std::size_t place = answers_.size() - 1;
        runtime_.wait([&] { return answers_[place].has_value(); });
        return *answers_[place];
    }
    std::int32_t counted() { return store_->find_user(kAnn).value()->count; }

    HandMomentClock moments_{kNoon};
    VirtualRuntime runtime_{1, moments_};
    HandClock clock_{kNoon};
    RecordingLog log_;
    CountingGatewayMetrics metrics_;
    FakePublisher publisher_;
    std::unique_ptr<FaultyGatewayTables> owned_ =
        std::make_unique<FaultyGatewayTables>(make_memory_gateway_tables());
    FaultyGatewayTables& tables_ = *owned_;
    const std::unique_ptr<GatewayStore> store_ = make_gateway_ledger(std::move(owned_), {clock_, log_});
    std::size_t drawn_ = 0;
    std::size_t nudges_ = 0;
    std::vector<std::optional<SendAnswer>> answers_;
    GatewayService service_;
};

TEST_F(GatewayServiceTest, AnswersOnceTheMessageIsAcknowledged) {
    begin(message(kAnn, "Hello"));
    let_run();
    ASSERT_THAT(publisher_.messages, SizeIs(1));
    EXPECT_EQ(publisher_.messages[0].text, "Hello");
    EXPECT_FALSE(answers_[0]);

    publisher_.finish_first(Published::Acknowledged);
    let_run();

    EXPECT_EQ(answers_[0]->outcome, SendOutcome::Accepted);
    EXPECT_EQ(answers_[0]->id, publisher_.messages[0].id);
    EXPECT_EQ(counted(), 1);
    EXPECT_EQ(metrics_.of(SendOutcome::Accepted), 1U);
}

TEST_F(GatewayServiceTest, GivesThePlaceBackBeforeItSaysThatNothingWasPublished) {
    publisher_.at_once = Published::NotPublished;

    const auto answer = send();

    EXPECT_EQ(answer.outcome, SendOutcome::PublisherDown);
    EXPECT_FALSE(answer.id);
    EXPECT_EQ(counted(), 0);
}

TEST_F(GatewayServiceTest, KeepsThePlaceAndTellsTheNameWhenNobodyKnows) {
    publisher_.at_once = Published::Unknown;

    const auto answer = send();

    EXPECT_EQ(answer.outcome, SendOutcome::PublisherDown);
    EXPECT_EQ(answer.id, publisher_.messages[0].id);
    EXPECT_EQ(counted(), 1);
}

TEST_F(GatewayServiceTest, NeitherCountsNorPublishesARetryOfWhatWasAcknowledged) {
    publisher_.at_once = Published::Acknowledged;
    const auto first = send(named("r"));

    const auto again = send(named("r"));

    EXPECT_EQ(again.outcome, SendOutcome::Accepted);
    EXPECT_EQ(again.id, first.id);
    EXPECT_THAT(publisher_.messages, SizeIs(1));
    EXPECT_EQ(counted(), 1);
}

TEST_F(GatewayServiceTest, PublishesARetryUnderTheSameNameWhenNobodyKnew) {
    publisher_.at_once = Published::Unknown;
    const auto first = send(named("r"));
    publisher_.at_once = Published::Acknowledged;

    const auto again = send(named("r"));

    EXPECT_EQ(again.outcome, SendOutcome::Accepted);
    EXPECT_EQ(again.id, first.id);
    EXPECT_EQ(publisher_.messages.at(1).id, first.id);
    EXPECT_EQ(counted(), 1);
}

TEST_F(GatewayServiceTest, SaysWhenThereIsRoomAgain) {
    publisher_.at_once = Published::Acknowledged;
    for (int i = 0; i < 3; ++i) {
        send();
    }

    const auto answer = send();

    EXPECT_EQ(answer.outcome, SendOutcome::Limited);
    EXPECT_EQ(answer.retry_after, 5min);
    EXPECT_THAT(publisher_.messages, SizeIs(3));
}

TEST_F(GatewayServiceTest, SaysThatItDoesNotKnowTheUser) {
    EXPECT_EQ(send(message(kBob)).outcome, SendOutcome::UnknownUser);
    EXPECT_THAT(publisher_.messages, IsEmpty());
}

TEST_F(GatewayServiceTest, ReservesForManyInOneCall) {
    ASSERT_TRUE(store_->put_user(kAnn, {100, 5}));
    publisher_.at_once = Published::Acknowledged;
    for (int i = 0; i < 50; ++i) {
        begin(message(kAnn));
    }
    let_run();

    EXPECT_EQ(counted(), 50);
    EXPECT_EQ(metrics_.of("reserved"), 50U);
    EXPECT_LT(metrics_.of("calls"), 50U);
}

TEST_F(GatewayServiceTest, PublishesNothingThatCouldNotBeReserved) {
    tables_.arm(Call::Users, 1);

    const auto answer = send();

    EXPECT_EQ(answer.outcome, SendOutcome::StoreDown);
    EXPECT_FALSE(answer.id);
    EXPECT_THAT(publisher_.messages, IsEmpty());
}

TEST_F(GatewayServiceTest, TellsTheNameOfWhatMayHaveBeenReserved) {
    tables_.arm(Call::Commit, 1, FaultyGatewayTables::Truth::DoneAllTheSame);

    const auto answer = send();

    EXPECT_EQ(answer.outcome, SendOutcome::StoreDown);
    EXPECT_TRUE(answer.id);
    EXPECT_THAT(publisher_.messages, IsEmpty());
    clock_.advance(1s);
    EXPECT_EQ(counted(), 1);
}

TEST_F(GatewayServiceTest, AcceptsWhatWasPublishedAlsoWhenItCouldNotBeSettled) {
    begin(message(kAnn));
    let_run();
    tables_.arm(Call::Commit, 1);

    publisher_.finish_first(Published::Acknowledged);
    let_run();

    EXPECT_EQ(answers_[0]->outcome, SendOutcome::Accepted);
    EXPECT_EQ(log_.count_starting("WARN Gateway - 1 messages may stay counted"), 1U);
}

TEST_F(GatewayServiceTest, TriesARefundOnce) {
    begin(message(kAnn));
    let_run();
    tables_.arm(Call::Commit, 1);

    publisher_.finish_first(Published::NotPublished);
    let_run();

    EXPECT_EQ(answers_[0]->outcome, SendOutcome::PublisherDown);
    clock_.advance(1s);
    EXPECT_EQ(counted(), 1);
}

TEST_F(GatewayServiceTest, RefusesWhenTheDiskIsNearlyFull) {
    tables_.set_room(StoreRoom::Scarce);

    EXPECT_EQ(send().outcome, SendOutcome::StoreDown);
    EXPECT_EQ(counted(), 0);
}

TEST_F(GatewayServiceTest, RefusesWhatComesAfterItWasStopped) {
    service_.stop();

    EXPECT_EQ(send().outcome, SendOutcome::Overloaded);
}

class FullGateway : public GatewayServiceTest {
protected:
    FullGateway() : GatewayServiceTest{true, {.batch_max = 1, .queue_max = 2}} {}
};

TEST_F(FullGateway, RefusesAtOnceWhatFindsTheQueueFull) {
    publisher_.at_once = Published::Acknowledged;
    for (int i = 0; i < 5; ++i) {
        begin(message(kAnn));
    }
    const auto refused = static_cast<std::size_t>(
        std::ranges::count_if(answers_, [](const auto& answer) { return answer.has_value(); }));

    EXPECT_EQ(refused, 3U);
    let_run();
    EXPECT_EQ(metrics_.of(SendOutcome::Overloaded), 3U);
    EXPECT_EQ(counted(), 2);
}

class OutboxGateway : public GatewayServiceTest {
protected:
    OutboxGateway() : GatewayServiceTest{false} {}
};

TEST_F(OutboxGateway, AnswersOnceTheMessageStandsInTheOutbox) {
    const auto answer = send(message(kAnn, "Hello"));

    EXPECT_EQ(answer.outcome, SendOutcome::Accepted);
    const auto waiting = store_->outbox().waiting(10).value();
    ASSERT_THAT(waiting, SizeIs(1));
    EXPECT_EQ(waiting[0].message.id, *answer.id);
    EXPECT_EQ(nudges_, 1U);
}

TEST_F(OutboxGateway, WakesTheSenderAlsoForWhatMayHaveBeenStored) {
    tables_.arm(Call::Commit, 1, FaultyGatewayTables::Truth::DoneAllTheSame);

    send();

    EXPECT_EQ(nudges_, 1U);
}

TEST_F(OutboxGateway, WakesNobodyForADenial) {
    for (int i = 0; i < 4; ++i) {
        send();
    }

    EXPECT_EQ(nudges_, 3U);
}

TEST_F(OutboxGateway, ToldOfUsersAndMessages) {
    std::optional<UserWindow> set;
    service_.put_user(kBob, {2, 1}, [&](auto window) { set = window.value(); });
    runtime_.wait([&] { return set.has_value(); });
    const auto sent = send(message(kBob));
    std::optional<UserWindow> found;
    service_.find_user(kBob, [&](auto window) { found = *window.value(); });
    std::optional<MessageStory> story;
    service_.find_message(*sent.id, [&](auto one) { story = *one.value(); });

    runtime_.wait([&] { return found && story; });

    EXPECT_EQ(set->count, 0);
    EXPECT_EQ(found->count, 1);
    EXPECT_EQ(story->state, MessageState::Queued);
}

TEST_F(OutboxGateway, IsReadyUnlessItsStoreFailed) {
    std::vector<bool> ready;
    const auto ask = [&] {
        const std::size_t before = ready.size();
        service_.readiness([&](bool is) { ready.push_back(is); });
        runtime_.wait([&] { return ready.size() > before; });
    };
    ask();
    tables_.arm(Call::Commit, 1);
    send();
    ask();
    clock_.advance(1s);
    ask();

    EXPECT_THAT(ready, testing::ElementsAre(true, false, true));
}

}  // namespace
}  // namespace sluice::test
