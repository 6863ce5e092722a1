#include "contract/work_store_contract.hpp"

namespace sluice::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;
using Action = AuditLine::Action;

TEST_P(WorkStoreContract, ClaimsWhatIsDueTheEarliestFirst) {
    give("c", order("3"), kNoon + 20s);
    give("b", order("2"), kNoon + 10s);
    give("a", order("1"));
    go_to(kNoon + 15s);

    const Taken taken = take(kDue, claiming(30s));

    EXPECT_THAT(ids_of(taken.claimed), ElementsAre("a", "b"));
    EXPECT_EQ(taken.claimed[0].order, order("1"));
    EXPECT_EQ(taken.claimed[0].work, work("a"));
    EXPECT_EQ(work("a").state, WorkState::Claimed);
    EXPECT_EQ(work("a").lane, kClaimed);
    EXPECT_EQ(work("a").due, kNoon + 45s);
    EXPECT_EQ(work("a").attempts, 1U);
    EXPECT_EQ(work("a").tries, 1U);
    EXPECT_EQ(taken.next, work("c").due);
    EXPECT_EQ(taken.now, kNoon + 15s);
    EXPECT_EQ(work("c").state, WorkState::Pending);
}

TEST_P(WorkStoreContract, TakesNoMoreThanItIsAskedFor) {
    for (int i = 0; i < 5; ++i) {
        give("e" + std::to_string(i));
    }
    let_all_come_due();

    const Taken taken = take(kDue, claiming(), 3);

    EXPECT_THAT(taken.claimed, SizeIs(3));
    ASSERT_TRUE(taken.next);
    EXPECT_LE(*taken.next, around_.clock.now());
    EXPECT_THAT(take(kDue, claiming(), 3).claimed, SizeIs(2));
    EXPECT_EQ(take(kDue, claiming(), 3).next, std::nullopt);
}

TEST_P(WorkStoreContract, LeavesAWorkAndAllBehindIt) {
    give("a");
    give("b", order(), kNoon + 2s);
    go_to(kNoon + 10s);
    std::size_t asked = 0;

    const Taken taken = take(kDue, [&](const DueWork&) {
        ++asked;
        return WorkVerdict{LeaveIt{}};
    });

    EXPECT_EQ(asked, 1U);
    EXPECT_THAT(taken.claimed, IsEmpty());
    EXPECT_EQ(taken.next, work("a").due);
    EXPECT_THAT(ids_of(take(kDue, claiming()).claimed), ElementsAre("a", "b"));
}

TEST_P(WorkStoreContract, SetsAsideOnceAndIsFoundThere) {
    give("x");
    let_all_come_due();
    const Lane pool_lane = lane(LaneKind::Pool, "a");

    const Taken taken = take(kDue, putting_aside(pool_lane));

    EXPECT_THAT(taken.filled, ElementsAre(pool_lane));
    EXPECT_EQ(taken.next, std::nullopt);
    EXPECT_EQ(work("x").state, WorkState::Pending);
    EXPECT_EQ(work("x").lane, pool_lane);
    EXPECT_THAT(take(kDue, claiming()).claimed, IsEmpty());
    EXPECT_THAT(works().lanes().value(), ElementsAre(pool_lane));
    EXPECT_THAT(ids_of(take(pool_lane, claiming()).claimed), ElementsAre("x"));
}

TEST_P(WorkStoreContract, KeepsLanesOfLikeNamesApart) {
    give("x");
    give("y", order("{}", "h2"), kNoon + 1s);
    go_to(kNoon + 10s);
    const Lane shorter = lane(LaneKind::Endpoint, "https://h");
    const Lane longer = lane(LaneKind::Endpoint, "https://h1");
    const Lane other_kind = lane(LaneKind::Host, "https://h");

    take(kDue, [&](const DueWork& due) {
        return WorkVerdict{SetAside{due.work.event_id.text() == "x" ? shorter : longer}};
    });

    EXPECT_THAT(seen_in(shorter), ElementsAre("x"));
    EXPECT_THAT(seen_in(longer), ElementsAre("y"));
    EXPECT_THAT(seen_in(other_kind), IsEmpty());
    EXPECT_THAT(works().lanes().value(), UnorderedElementsAre(shorter, longer));
}

TEST_P(WorkStoreContract, FindsWhatComesInBeforeWhereTheLastTakeEnded) {
    give("later", order(), kNoon + 10s);
    go_to(kNoon + 11s);
    take(kDue, claiming());
    take(kDue, claiming());

    give("earlier", order(), kNoon);
    settle("later", 1, Settlement::NotSent{});

    EXPECT_THAT(seen_in(kDue), ElementsAre("earlier", "later"));
}

TEST_P(WorkStoreContract, TriesAgainAfterAPause) {
    give("x");
    let_all_come_due();
    take(kDue, claiming(5s));
    around_.clock.advance(6s);

    const Taken taken = take(kClaimed, trying_again(30s));

    EXPECT_EQ(work("x").state, WorkState::Retrying);
    EXPECT_EQ(work("x").lane, kDue);
    EXPECT_EQ(work("x").due, around_.clock.now() + 30s);
    EXPECT_EQ(work("x").attempts, 1U);
    EXPECT_THAT(actions("x"), ElementsAre(Action::Lost));
    EXPECT_EQ(audit("x").front().at, around_.clock.now());
    EXPECT_EQ(taken.next, std::nullopt);
    EXPECT_EQ(take(kDue, claiming()).next, around_.clock.now() + 30s);
}

TEST_P(WorkStoreContract, GivesUpAndKeepsTheDead) {
    give("x");
    give("y");
    let_all_come_due();

    take(kDue, [](const DueWork& due) {
        return WorkVerdict{GiveUp{due.work.event_id.text() == "x" ? WorkState::Dead : WorkState::Expired,
                                  line_of(Action::GivenUp)}};
    });

    EXPECT_EQ(work("x").state, WorkState::Dead);
    EXPECT_EQ(work("y").state, WorkState::Expired);
    EXPECT_EQ(work("x").lane, kDead);
    EXPECT_EQ(work("x").due, around_.clock.now());
    EXPECT_THAT(actions("x"), ElementsAre(Action::GivenUp));
    EXPECT_EQ(count(LaneKind::Dead), 2U);
    EXPECT_THAT(works().lanes().value(), IsEmpty());
}

TEST_P(WorkStoreContract, ShowsAJudgeWhatItsWindowHasSent) {
    give("x");
    give("y");
    ASSERT_TRUE(run(assign("plain", "a", SlotAsk{kNoon, 3})));
    let_all_come_due();
    go_to(kNoon + 999ms);
    std::vector<WindowSends> seen;
    const auto look = [&](const DueWork& due) {
        seen.push_back(due.sends);
        EXPECT_EQ(due.lateness, Lateness::Fresh);
        EXPECT_EQ(due.now, kNoon + 999ms);
        return WorkVerdict{ClaimIt{20s}};
    };

    take(kDue, look);

    const WindowIndex window = WindowGrid{1s}.index_of(kNoon);
    EXPECT_THAT(seen, ElementsAre(WindowSends{window, 100, 5, 0, 0}, WindowSends{window, 100, 5, 1, 0}));
}

TEST_P(WorkStoreContract, CountsLateWorkInTheWindowInWhichItGoesOut) {
    give("x");
    give("y");
    go_to(kNoon + 1h);
    std::vector<WindowSends> seen;
    const auto look = [&](const DueWork& due) {
        seen.push_back(due.sends);
        EXPECT_EQ(due.lateness, Lateness::Late);
        return WorkVerdict{ClaimIt{20s}};
    };

    take(kDue, look, 1);
    restart();
    take(kDue, look, 1);

    const WindowIndex window = WindowGrid{1s}.index_of(kNoon + 1h);
    EXPECT_THAT(seen, ElementsAre(WindowSends{window, 100, 0, 0, 0}, WindowSends{window, 100, 0, 1, 1}));
}

TEST_P(WorkStoreContract, CountsWhatWasTriedBeforeAsLate) {
    give("x");
    go_to(kNoon + 999ms);
    take(kDue, claiming());
    settle("x", 1, Settlement::Again{0ms});

    take(kDue, [](const DueWork& due) {
        EXPECT_EQ(due.lateness, Lateness::Late);
        return WorkVerdict{LeaveIt{}};
    });
}

TEST_P(WorkStoreContract, BeginsEachWindowWithNothingSent) {
    give("x");
    give("y", order(), kNoon + 100s);
    let_all_come_due();
    take(kDue, claiming());
    go_to(kNoon + 101s);

    take(kDue, [](const DueWork& due) {
        EXPECT_EQ(due.sends.sent, 0U);
        return WorkVerdict{ClaimIt{20s}};
    });
}

TEST_P(WorkStoreContract, ShowsTheCapOfTheActiveVersion) {
    give("x");
    ASSERT_TRUE(slots().put_config(draft("a", 7, 1s)));
    let_all_come_due();

    take(kDue, [](const DueWork& due) {
        EXPECT_EQ(due.sends.cap, 7U);
        return WorkVerdict{LeaveIt{}};
    });
}

TEST_P(WorkStoreContract, KeepsClaimsOverARestart) {
    give("x");
    give("y", order("{}", "h2"));
    let_all_come_due();
    take(kDue, claiming(20s));
    around_.clock.advance(5s);

    restart();

    const auto claims = works().open_claims().value();
    ASSERT_THAT(claims, SizeIs(2));
    EXPECT_EQ(claims[0].event_id, event("x"));
    EXPECT_EQ(claims[0].attempt, 1U);
    EXPECT_EQ(claims[0].pool, pool("a"));
    EXPECT_EQ(claims[0].left, 15s);
    EXPECT_THAT(take(kDue, claiming()).claimed, IsEmpty());
    EXPECT_EQ(take(kClaimed, claiming()).next, kNoon + 21s);
    around_.clock.advance(1min);
    EXPECT_EQ(works().open_claims().value()[0].left, 0s);
    EXPECT_THAT(seen_in(kClaimed), SizeIs(2));
}

TEST_P(WorkStoreContract, NamesEveryLaneButThatOfTheDead) {
    give("due");
    give("claimed");
    give("dead");
    give("aside");
    let_all_come_due();
    take(kDue, [](const DueWork& due) -> WorkVerdict {
        const std::string& id = due.work.event_id.text();
        if (id == "claimed") {
            return ClaimIt{20s};
        }
        if (id == "dead") {
            return GiveUp{WorkState::Dead, line_of(Action::GivenUp)};
        }
        return id == "aside" ? WorkVerdict{SetAside{lane(LaneKind::Late, "a")}} : WorkVerdict{SetAside{kDue}};
    });

    EXPECT_THAT(works().lanes().value(), UnorderedElementsAre(kDue, kClaimed, lane(LaneKind::Late, "a")));
    EXPECT_EQ(count(LaneKind::Due), 1U);
    EXPECT_EQ(count(LaneKind::Claimed), 1U);
    EXPECT_EQ(count(LaneKind::Late), 1U);
    EXPECT_EQ(count(LaneKind::Dead), 1U);
    restart();
    EXPECT_EQ(count(LaneKind::Late), 1U);
}

}  // namespace
}  // namespace sluice::test
