#include "contract/work_store_contract.hpp"

namespace sluice::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using Action = AuditLine::Action;

const Subject kEndpoint{SubjectKind::Endpoint, "https://h1:443/hook"};

TEST_P(WorkStoreContract, SettlesWhatArrived) {
    give("x");
    let_all_come_due();
    take(kDue, claiming());
    around_.clock.advance(1s);

    settle("x", 1, Settlement::Done{});

    EXPECT_EQ(work("x").state, WorkState::Sent);
    EXPECT_EQ(work("x").due, around_.clock.now());
    EXPECT_THAT(works().open_claims().value(), IsEmpty());
    EXPECT_THAT(works().counts().value(), IsEmpty());
    AuditLine line = attempt_line(1);
    line.at = around_.clock.now();
    EXPECT_THAT(audit("x"), ElementsAre(line));
    restart();
    EXPECT_EQ(work("x").state, WorkState::Sent);
    EXPECT_THAT(audit("x"), ElementsAre(line));
}

TEST_P(WorkStoreContract, SettlesWhatIsTriedAgain) {
    give("x");
    let_all_come_due();
    take(kDue, claiming());

    settle("x", 1, Settlement::Again{5s});

    EXPECT_EQ(work("x").state, WorkState::Retrying);
    EXPECT_EQ(work("x").lane, kDue);
    EXPECT_EQ(work("x").due, around_.clock.now() + 5s);
    around_.clock.advance(5s);
    EXPECT_EQ(take(kDue, claiming()).claimed.at(0).work.attempts, 2U);
}

TEST_P(WorkStoreContract, SettlesWhatFailedForGood) {
    give("x");
    let_all_come_due();

    let_die("x");

    EXPECT_EQ(work("x").state, WorkState::Dead);
    EXPECT_EQ(work("x").lane, kDead);
    EXPECT_EQ(work("x").due, around_.clock.now());
}

TEST_P(WorkStoreContract, DoesNotCountWhatWasNeverSent) {
    give("x");
    let_all_come_due();
    take(kDue, claiming());

    settle("x", 1, Settlement::NotSent{});

    EXPECT_EQ(work("x").state, WorkState::Pending);
    EXPECT_EQ(work("x").lane, kDue);
    EXPECT_EQ(work("x").due, around_.clock.now());
    EXPECT_EQ(work("x").attempts, 0U);
    EXPECT_EQ(work("x").tries, 0U);
    EXPECT_THAT(audit("x"), IsEmpty());
}

TEST_P(WorkStoreContract, ParksAnEndpointWithTheWorkThatItRefused) {
    give("x");
    let_all_come_due();
    take(kDue, claiming());

    settle("x", 1, Settlement::Parked{"node"});

    EXPECT_EQ(work("x").state, WorkState::Parked);
    EXPECT_EQ(work("x").lane, lane(LaneKind::Endpoint, kEndpoint.name));
    const Hold gone{Hold::Why::Gone, around_.clock.now(), "node"};
    EXPECT_EQ(works().terms().value()->holds, (std::map<Subject, Hold>{{kEndpoint, gone}}));
    restart();
    EXPECT_EQ(works().terms().value()->holds, (std::map<Subject, Hold>{{kEndpoint, gone}}));
    EXPECT_EQ(work("x").state, WorkState::Parked);
}

TEST_P(WorkStoreContract, ShowsNothingAsParkedOnceItsEndpointIsLetGo) {
    give("tried");
    give("fresh", order(), kNoon + 2s);
    let_all_come_due();
    take(kDue, claiming());
    settle("tried", 1, Settlement::Parked{"node"});
    go_to(kNoon + 5s);
    take(kDue, putting_aside(lane(LaneKind::Endpoint, kEndpoint.name), true));
    EXPECT_EQ(work("fresh").state, WorkState::Parked);
    EXPECT_THAT(works().list({.state = WorkState::Parked}).value().works, SizeIs(2));

    ASSERT_TRUE(works().release(kEndpoint, "ops"));

    EXPECT_EQ(work("tried").state, WorkState::Retrying);
    EXPECT_EQ(work("fresh").state, WorkState::Pending);
    EXPECT_THAT(works().list({.state = WorkState::Parked}).value().works, IsEmpty());
    EXPECT_THAT(ids_of(take(lane(LaneKind::Endpoint, kEndpoint.name), claiming()).claimed), SizeIs(2));
}

TEST_P(WorkStoreContract, KeepsOnlyTheLineOfAClaimThatOthersEnded) {
    give("x");
    let_all_come_due();
    take(kDue, claiming(5s));
    around_.clock.advance(6s);
    take(kClaimed, trying_again(0ms));
    take(kDue, claiming(5s));
    const Work claimed_again = work("x");

    settle("x", 1, Settlement::Done{});

    EXPECT_EQ(work("x"), claimed_again);
    EXPECT_THAT(actions("x"), ElementsAre(Action::Lost, Action::Attempt));
    settle("x", 2, Settlement::Failed{});
    settle("x", 2, Settlement::Done{});
    EXPECT_EQ(work("x").state, WorkState::Dead);
    EXPECT_THAT(audit("x"), SizeIs(4));
}

TEST_P(WorkStoreContract, SettlesManyAtOnce) {
    std::vector<Settlement> settlements;
    for (int i = 0; i < 50; ++i) {
        give("e" + std::to_string(i));
        settlements.push_back({event("e" + std::to_string(i)), 1, Settlement::Done{}, attempt_line(1)});
    }
    settlements.push_back({event("nobody"), 1, Settlement::Done{}, attempt_line(1)});
    let_all_come_due();
    take(kDue, claiming());

    ASSERT_TRUE(works().settle(settlements));

    EXPECT_THAT(works().list({.state = WorkState::Sent}).value().works, SizeIs(50));
    EXPECT_EQ(works().find(event("nobody")).value(), std::nullopt);
}

TEST_P(WorkStoreContract, ShowsTheLastLinesOfALongAudit) {
    give("x");
    let_all_come_due();
    for (std::uint32_t i = 1; i <= 110; ++i) {
        take(kDue, claiming());
        settle("x", i, Settlement::Again{0ms});
    }

    const auto lines = audit("x");

    ASSERT_THAT(lines, SizeIs(kAuditShownMax));
    EXPECT_EQ(lines.front().attempt, 11U);
    EXPECT_EQ(lines.back().attempt, 110U);
}

TEST_P(WorkStoreContract, ReplaysTheDeadByEvent) {
    give("x");
    give("y");
    let_all_come_due();
    take(kDue, claiming());
    settle("x", 1, Settlement::Failed{});
    settle("y", 1, Settlement::Done{});
    around_.clock.advance(1min);

    EXPECT_EQ(works().replay({.event_ids = {event("x"), event("y"), event("none")}}, "ops").value(), 1U);

    EXPECT_EQ(work("x").state, WorkState::Retrying);
    EXPECT_EQ(work("x").lane, kDue);
    EXPECT_EQ(work("x").due, around_.clock.now());
    EXPECT_EQ(work("x").attempts, 1U);
    EXPECT_EQ(work("x").tries, 0U);
    EXPECT_THAT(actions("x"), ElementsAre(Action::Attempt, Action::Replayed));
    EXPECT_EQ(audit("x").back().by, "ops");
    EXPECT_EQ(work("y").state, WorkState::Sent);
    EXPECT_EQ(works().replay({.event_ids = {event("x")}}, "ops").value(), 0U);
}

TEST_P(WorkStoreContract, ReplaysTheDeadByHostAndTime) {
    give("a1");
    give("a2", order("{}", "h2"));
    let_all_come_due();
    take(kDue, giving_up(WorkState::Dead));
    go_to(kNoon + 1h);
    give("b1", order(), kNoon + 1h);
    go_to(kNoon + 2h);
    take(kDue, giving_up(WorkState::Expired));

    EXPECT_EQ(works().replay({.until = kNoon + 1s}, "ops").value(), 0U);
    EXPECT_EQ(works().replay({.host = "h1", .until = kNoon + 1h}, "ops").value(), 1U);
    EXPECT_EQ(work("a1").state, WorkState::Pending);
    EXPECT_EQ(works().replay({.since = kNoon + 2h}, "ops").value(), 1U);
    EXPECT_EQ(work("b1").state, WorkState::Pending);
    EXPECT_EQ(work("a2").state, WorkState::Dead);
}

TEST_P(WorkStoreContract, ReplaysMoreThanFitIntoOneWrite) {
    std::vector<SlotCommand> commands;
    for (int i = 0; i < 1200; ++i) {
        commands.emplace_back(with_work(assign("e" + std::to_string(i), "a", SlotAsk{kNoon})));
    }
    slots().execute(commands);
    go_to(kNoon + 1min);
    take(kDue, giving_up(WorkState::Dead), 2000);

    EXPECT_EQ(works().replay({.host = "h1"}, "ops").value(), 1200U);

    EXPECT_EQ(count(LaneKind::Dead), 0U);
    EXPECT_EQ(count(LaneKind::Due), 1200U);
}

// Somebody has decided that it is sent all the same.
TEST_P(WorkStoreContract, DoesNotExpireAgainWhatIsReplayed) {
    WorkOrder impatient = order();
    impatient.expires_after = 1s;
    give("x", impatient);
    go_to(kNoon + 1h);
    take(kDue, giving_up(WorkState::Expired));

    ASSERT_EQ(works().replay({.event_ids = {event("x")}}, "ops").value(), 1U);

    EXPECT_EQ(work("x").expires, std::nullopt);
}

TEST_P(WorkStoreContract, ListsWorksPageByPage) {
    for (const char* id : {"a", "b", "c", "d", "e"}) {
        give(id, order("{}", id == std::string_view{"c"} ? "h2" : "h1"));
    }
    let_all_come_due();
    take(kDue, claiming(), 2);
    const auto all = [this](WorkFilter filter) {
        std::vector<std::string> ids;
        do {
            const WorkPage page = works().list(filter).value();
            EXPECT_LE(page.works.size(), filter.limit);
            for (const Work& work : page.works) {
                ids.push_back(work.event_id.text());
            }
            filter.after = page.after;
        } while (!filter.after.empty());
        return ids;
    };

    EXPECT_THAT(all({.limit = 2}), ElementsAre("a", "b", "c", "d", "e"));
    EXPECT_THAT(all({.limit = 5}), ElementsAre("a", "b", "c", "d", "e"));
    EXPECT_THAT(all({.host = "h2", .limit = 1}), ElementsAre("c"));
    EXPECT_THAT(all({.config = config("other")}), IsEmpty());
    EXPECT_THAT(all({.config = config("a"), .limit = 3}), SizeIs(5));
    EXPECT_THAT(all({.state = WorkState::Claimed, .limit = 1}), SizeIs(2));
    EXPECT_THAT(all({.state = WorkState::Pending, .limit = 1}), SizeIs(3));
}

TEST_P(WorkStoreContract, ListsTheDeadInTheOrderInWhichTheyDied) {
    give("z");
    give("y", order(), kNoon + 5s);
    give("x", order(), kNoon + 10s);
    for (const auto when : {1s, 6s, 11s}) {
        go_to(kNoon + when);
        take(kDue, giving_up(when == 6s ? WorkState::Expired : WorkState::Dead));
    }

    const WorkPage first = works().list({.state = WorkState::Dead, .limit = 1}).value();
    const WorkPage second =
        works().list({.state = WorkState::Dead, .after = first.after, .limit = 1}).value();

    EXPECT_THAT(ids_of(first.works), ElementsAre("z"));
    EXPECT_THAT(ids_of(second.works), ElementsAre("x"));
    EXPECT_EQ(second.after, "");
    EXPECT_THAT(ids_of(works().list({.state = WorkState::Expired}).value().works), ElementsAre("y"));
}

}  // namespace
}  // namespace sluice::test
