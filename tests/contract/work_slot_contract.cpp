// What slots do with the work that they bring along.
#include "contract/work_store_contract.hpp"

namespace sluice::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Action = AuditLine::Action;

TEST_P(WorkStoreContract, StoresWorkWithItsSlot) {
    const Slot slot = give("x", order("{\"n\":1}"));

    const auto story = slots().find(event("x")).value();

    ASSERT_TRUE(story.work);
    EXPECT_EQ(story.work->order, order("{\"n\":1}"));
    EXPECT_EQ(story.work->work.event_id, event("x"));
    EXPECT_EQ(story.work->work.config, config("a"));
    EXPECT_EQ(story.work->work.pool, pool("a"));
    EXPECT_EQ(story.work->work.route, order().route);
    EXPECT_EQ(story.work->work.target, TargetKind::Webhook);
    EXPECT_EQ(story.work->work.scheduled, slot.scheduled);
    EXPECT_EQ(story.work->work.due, slot.scheduled);
    EXPECT_EQ(story.work->work.state, WorkState::Pending);
    EXPECT_EQ(story.work->work.lane, kDue);
    EXPECT_EQ(story.work->work.expires, std::nullopt);
    EXPECT_THAT(story.work->audit, IsEmpty());
}

TEST_P(WorkStoreContract, KeepsWorkOverARestart) {
    give("x", order(std::string(kPayloadMax, 'p')));

    restart();

    EXPECT_EQ(work("x").state, WorkState::Pending);
    EXPECT_EQ(works().find(event("x")).value()->order.payload, std::string(kPayloadMax, 'p'));
    EXPECT_EQ(count(LaneKind::Due), 1U);
}

TEST_P(WorkStoreContract, KnowsNoWorkOfAnEventThatBroughtNone) {
    ASSERT_TRUE(run(assign("x", "a", SlotAsk{kNoon})));

    EXPECT_EQ(works().find(event("x")).value(), std::nullopt);
    EXPECT_EQ(works().find(event("nobody")).value(), std::nullopt);
    EXPECT_EQ(slots().find(event("x"))->work, std::nullopt);
}

TEST_P(WorkStoreContract, ExpiresAsTheEventOrElseItsConfigSays) {
    ConfigDraft terms = draft("a", 100, 1s);
    terms.dispatch.expires_after = 1h;
    ASSERT_TRUE(slots().put_config(terms));
    WorkOrder impatient = order();
    impatient.expires_after = 5s;

    const Slot by_config = give("x");
    const Slot by_itself = give("y", impatient);

    EXPECT_EQ(work("x").expires, by_config.scheduled + 1h);
    EXPECT_EQ(work("y").expires, by_itself.scheduled + 5s);
}

TEST_P(WorkStoreContract, NeverAddsWorkToAKnownEvent) {
    const Slot slot = give("x", order("first"));
    ASSERT_TRUE(run(assign("plain", "a", SlotAsk{kNoon})));

    EXPECT_EQ(give("x", order("second")), slot);
    EXPECT_TRUE(run(with_work(assign("plain", "a", SlotAsk{kNoon})))->repeated);

    EXPECT_EQ(works().find(event("x")).value()->order.payload, "first");
    EXPECT_EQ(works().find(event("plain")).value(), std::nullopt);
    EXPECT_EQ(count(LaneKind::Due), 1U);
}

TEST_P(WorkStoreContract, ComparesTheWorkOfARepeatInStrictMode) {
    start({.strict = true});
    give("x", order("first"));
    ASSERT_TRUE(run(assign("plain", "a", SlotAsk{kNoon})));
    const auto ask = [](WorkOrder order) {
        return with_work(assign("x", "a", SlotAsk{kNoon}), std::move(order));
    };
    WorkOrder elsewhere = order("first");
    elsewhere.target.address += "/other";
    WorkOrder impatient = order("first");
    impatient.expires_after = 5s;
    WorkOrder traced = order("first");
    traced.traceparent = "00-1-2-00";

    EXPECT_EQ(fault_of(ask(order("first"))), std::nullopt);
    EXPECT_EQ(fault_of(ask(traced)), std::nullopt);
    EXPECT_EQ(fault_of(ask(order("second"))), SlotFault::DifferentBody);
    EXPECT_EQ(fault_of(ask(elsewhere)), SlotFault::DifferentBody);
    EXPECT_EQ(fault_of(ask(impatient)), SlotFault::DifferentBody);
    EXPECT_EQ(fault_of(assign("x", "a", SlotAsk{kNoon})), SlotFault::DifferentBody);
    EXPECT_EQ(fault_of(with_work(assign("plain", "a", SlotAsk{kNoon}))), SlotFault::DifferentBody);
}

TEST_P(WorkStoreContract, ComparesTheWorkOfARepeatInTheSameGroup) {
    start({.strict = true});
    const std::vector<SlotCommand> commands{with_work(assign("x", "a", SlotAsk{kNoon}), order("first")),
                                            with_work(assign("x", "a", SlotAsk{kNoon}), order("first")),
                                            with_work(assign("x", "a", SlotAsk{kNoon}), order("second"))};

    const auto replies = slots().execute(commands);

    EXPECT_TRUE(std::get<SlotOutcome>(replies[1])->repeated);
    EXPECT_EQ(std::get<SlotOutcome>(replies[2]).error().fault, SlotFault::DifferentBody);
    EXPECT_EQ(works().find(event("x")).value()->order.payload, "first");
}

TEST_P(WorkStoreContract, StoresNoWorkOfABatchOfWhichOneFails) {
    ASSERT_TRUE(slots().put_config(looking_ahead(0, draft("b", 1, 1s))));

    const auto refused =
        run_all(slots(),
                {{with_work(assign("x", "b", SlotAsk{kNoon})), with_work(assign("y", "b", SlotAsk{kNoon}))}});

    EXPECT_FALSE(refused);
    EXPECT_EQ(works().find(event("x")).value(), std::nullopt);
    EXPECT_EQ(count(LaneKind::Due), 0U);
    const auto granted = run_all(slots(), {{with_work(assign("x", "b", SlotAsk{kNoon})),
                                            with_work(assign("y", "b", SlotAsk{kNoon + 1s}))}});
    EXPECT_TRUE(granted);
    EXPECT_EQ(count(LaneKind::Due), 2U);
}

TEST_P(WorkStoreContract, WithdrawsWorkWithItsSlot) {
    give("x");

    ASSERT_TRUE(run(CancelSlot{event("x"), "10.0.0.1 ops"}));

    EXPECT_EQ(work("x").state, WorkState::Withdrawn);
    EXPECT_THAT(actions("x"), ElementsAre(Action::Cancelled));
    EXPECT_EQ(audit("x").front().by, "10.0.0.1 ops");
    EXPECT_EQ(audit("x").front().at, around_.clock.now());
    let_all_come_due();
    EXPECT_THAT(seen_in(kDue), IsEmpty());
    EXPECT_TRUE(run(CancelSlot{event("x")})->repeated);
    EXPECT_THAT(actions("x"), ElementsAre(Action::Cancelled));
}

TEST_P(WorkStoreContract, WithdrawsWhatWaitsOrIsDead) {
    for (const char* id : {"retrying", "dead", "expired", "parked", "aside"}) {
        give(id);
    }
    let_all_come_due();
    take(kDue, [](const DueWork& due) -> WorkVerdict {
        const std::string& id = due.work.event_id.text();
        if (id == "expired") {
            return GiveUp{WorkState::Expired, line_of(Action::GivenUp)};
        }
        if (id == "parked" || id == "aside") {
            return SetAside{lane(LaneKind::Endpoint, due.work.route.endpoint), id == "parked"};
        }
        return ClaimIt{20s};
    });
    settle("retrying", 1, Settlement::Again{5s});
    settle("dead", 1, Settlement::Failed{});

    for (const char* id : {"retrying", "dead", "expired", "parked", "aside"}) {
        SCOPED_TRACE(id);
        EXPECT_EQ(fault_of(CancelSlot{event(id)}), std::nullopt);
        EXPECT_EQ(work(id).state, WorkState::Withdrawn);
    }
    EXPECT_THAT(works().lanes().value(), IsEmpty());
    EXPECT_THAT(works().counts().value(), IsEmpty());
}

TEST_P(WorkStoreContract, NeitherCancelsNorMovesWhatIsOnItsWayOrArrived) {
    give("claimed");
    give("sent");
    let_all_come_due();
    take(kDue, claiming());
    settle("sent", 1, Settlement::Done{});

    for (const char* id : {"claimed", "sent"}) {
        SCOPED_TRACE(id);
        EXPECT_EQ(fault_of(CancelSlot{event(id)}), SlotFault::AlreadyDispatched);
        EXPECT_EQ(fault_of(MoveSlot{event(id), kNoon + 1h}), SlotFault::AlreadyDispatched);
        EXPECT_EQ(slots().find(event(id))->slot.state, SlotState::Assigned);
        EXPECT_EQ(slots().find(event(id))->slot.revision, 0U);
    }
}

TEST_P(WorkStoreContract, MovesWorkWithItsSlot) {
    WorkOrder impatient = order();
    impatient.expires_after = 5s;
    give("x", impatient);

    const Slot moved = must(run(MoveSlot{event("x"), kNoon + 1h, "ops"})).slot;

    EXPECT_EQ(work("x").scheduled, moved.scheduled);
    EXPECT_EQ(work("x").due, moved.scheduled);
    EXPECT_EQ(work("x").expires, moved.scheduled + 5s);
    EXPECT_THAT(actions("x"), ElementsAre(Action::Moved));
    let_all_come_due();
    EXPECT_THAT(seen_in(kDue), IsEmpty());
    go_to(kNoon + 1h + 1s);
    EXPECT_THAT(seen_in(kDue), ElementsAre("x"));
}

TEST_P(WorkStoreContract, MovesWhatWasSetAsideBackToLaneDue) {
    give("x");
    let_all_come_due();
    const Lane endpoint = lane(LaneKind::Endpoint, "https://h1:443/hook");
    take(kDue, putting_aside(endpoint, true));

    ASSERT_TRUE(run(MoveSlot{event("x"), kNoon + 1h}));

    EXPECT_EQ(work("x").state, WorkState::Pending);
    EXPECT_EQ(work("x").lane, kDue);
    EXPECT_THAT(seen_in(endpoint), IsEmpty());
}

TEST_P(WorkStoreContract, DoesNotMoveWhatWasTried) {
    give("x");
    give("y");
    let_all_come_due();
    take(kDue, claiming());
    settle("x", 1, Settlement::Again{5s});
    settle("y", 1, Settlement::Failed{});

    EXPECT_EQ(fault_of(MoveSlot{event("x"), kNoon + 1h}), SlotFault::AlreadyDispatched);
    EXPECT_EQ(fault_of(MoveSlot{event("y"), kNoon + 1h}), SlotFault::AlreadyDispatched);
}

TEST_P(WorkStoreContract, AssignsAndWithdrawsInOneGroup) {
    const std::vector<SlotCommand> commands{with_work(assign("x", "a", SlotAsk{kNoon})),
                                            CancelSlot{event("x")}};

    const auto replies = slots().execute(commands);

    EXPECT_TRUE(std::get<SlotOutcome>(replies[1]));
    EXPECT_EQ(work("x").state, WorkState::Withdrawn);
    EXPECT_THAT(works().lanes().value(), IsEmpty());
}

TEST_P(WorkStoreContract, SparesSlotsWhoseWorkIsNotFinal) {
    start({.retention = 24h});
    give("sent");
    give("open");
    ASSERT_TRUE(run(assign("plain", "a", SlotAsk{kNoon})));
    let_all_come_due();
    take(kDue, [](const DueWork& due) -> WorkVerdict {
        if (due.work.event_id.text() == "sent") {
            return ClaimIt{20s};
        }
        return GiveUp{WorkState::Dead, line_of(Action::GivenUp)};
    });
    settle("sent", 1, Settlement::Done{});

    start_again_after(48h);

    EXPECT_TRUE(forgets("plain"));
    EXPECT_TRUE(forgets("sent"));
    EXPECT_EQ(works().find(event("sent")).value(), std::nullopt);
    EXPECT_TRUE(slots().find(event("open")));
    EXPECT_EQ(works().replay({.event_ids = {event("open")}}, "ops").value(), 1U);
    take(kDue, claiming());
    settle("open", 1, Settlement::Done{});
    start_again_after(1s);
    EXPECT_TRUE(forgets("open"));
}

TEST_P(WorkStoreContract, BeginsAnewWithAForgottenEvent) {
    start({.retention = 24h});
    give("x", order("first"));
    let_all_come_due();
    take(kDue, claiming());
    settle("x", 1, Settlement::Done{});
    start_again_after(48h);
    ASSERT_TRUE(forgets("x"));

    give("x", order("second"), around_.clock.now() + 1h);

    EXPECT_EQ(work("x").state, WorkState::Pending);
    EXPECT_EQ(works().find(event("x")).value()->order.payload, "second");
    EXPECT_THAT(audit("x"), IsEmpty());
}

}  // namespace
}  // namespace sluice::test
