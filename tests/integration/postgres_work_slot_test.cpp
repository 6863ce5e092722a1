// The work that slots bring along, as the tables have it: the store of works is another.
#include "support/postgres_interleaving.hpp"
#include "support/work_words.hpp"

namespace sluice::test {
namespace {

using testing::SizeIs;

// How many works and orders there are, and how many lines their audit has.
const std::string kSizes =
    "select concat_ws(' ', (select count(*) from sluice.work), (select count(*) from sluice.work_order),"
    " (select count(*) from sluice.dispatch_audit))";

class WorkSlots : public Interleaving {
protected:
    std::string row(const std::string& sql) { return ask(*connect(), sql); }
    std::string work_of(const std::string& event_id, const std::string& columns) {
        return row("select concat_ws(' ', " + columns + ") from sluice.work where event_id = '" + event_id +
                   "'");
    }
    // As whoever sends works would leave it.
    void set_work(const std::string& event_id, const std::string& columns) {
        ask(*connect(), "update sluice.work set " + columns + " where event_id = '" + event_id + "'");
    }
    [[nodiscard]] Node strict_node() const { return Node{dsn(), {GetParam(), 100, 1500ms, true}}; }

    static AssignSlot bringing(std::string_view id, WorkOrder brought = order()) {
        return with_work(assign(id, "a", SlotAsk{kNoon}), std::move(brought));
    }
};

INSTANTIATE_TEST_SUITE_P(Ways, WorkSlots, testing::Values(AssignWay::Batch, AssignWay::Function),
                         [](const auto& way) {
                             return way.param == AssignWay::Batch ? "Batch" : "Function";
                         });

TEST_P(WorkSlots, StoreAnOrderAndAPendingWorkInLaneDue) {
    Node one = node();
    must(one->put_config(draft("a", 9, 1s)));
    WorkOrder brought = order(R"({"quoted":"\"{},"})");
    brought.expires_after = 5s;
    brought.traceparent = "00-1-2-00";

    const Slot slot = must(one.run(bringing("x", brought))).slot;

    EXPECT_EQ(slot.work, WorkMark::Open);
    EXPECT_EQ(work_of("x",
                      "wndw_config_nm, pool_nm, host_nm, endpoint_nm, target_cd, weight_ct, state_cd,"
                      " lane_cd, lane_nm = '', attempt_ct, try_ct, line_ct"),
              "a a h1 https://h1:443/hook 2 1 1 1 t 0 0 0");
    EXPECT_EQ(work_of("x", "sluice.to_ms(sched_ts), sluice.to_ms(due_ts), sluice.to_ms(expires_ts)"),
              std::to_string(slot.scheduled.time_since_epoch().count()) + " " +
                  std::to_string(slot.scheduled.time_since_epoch().count()) + " " +
                  std::to_string((slot.scheduled + 5s).time_since_epoch().count()));
    const auto story = one->find(event("x"));
    ASSERT_TRUE(story && story->work);
    EXPECT_EQ(story->work->order, brought);
    EXPECT_EQ(story->slot, slot);
}

TEST_P(WorkSlots, KeepEveryByteOfAPayload) {
    Node one = node();
    must(one->put_config(draft("a", 9, 1s)));
    std::string every(kPayloadMax, '\0');
    for (std::size_t i = 0; i < every.size(); ++i) {
        every[i] = static_cast<char>(i);
    }

    must(one.run(bringing("x", order(every))));
    must(one.run(bringing("empty", order(""))));

    EXPECT_EQ(one->find(event("x"))->work->order.payload, every);
    EXPECT_EQ(one->find(event("empty"))->work->order.payload, "");
}

TEST_P(WorkSlots, AddNoWorkToAnEventThatIsKnown) {
    Node one = node();
    must(one->put_config(draft("a", 9, 1s)));
    must(one.assign_noon("plain"));
    const Slot slot = must(one.run(bringing("x", order("first")))).slot;

    EXPECT_EQ(must(one.run(bringing("x", order("second")))).slot, slot);
    EXPECT_TRUE(must(one.run(bringing("plain"))).repeated);
    const auto replies = run_each(*one, {{bringing("x", order("third")), bringing("y", order("first")),
                                          bringing("y", order("second")), assign("plain", "a", {kNoon})}});

    EXPECT_THAT(replies, testing::Each(testing::Truly([](const auto& reply) { return reply.has_value(); })));
    EXPECT_EQ(row(kSizes), "2 2 0");
    EXPECT_EQ(one->find(event("x"))->work->order.payload, "first");
    EXPECT_EQ(one->find(event("y"))->work->order.payload, "first");
    EXPECT_EQ(one->find(event("plain"))->work, std::nullopt);
    EXPECT_EQ(one->find(event("plain"))->slot.work, WorkMark::None);
}

TEST_P(WorkSlots, LeaveTheWorkOfWhoeverWasFaster) {
    Node one = node();
    must(one->put_config(draft("a", 9, 1s)));
    one.window_of("first");
    const auto application = connect();
    for (const std::string target : {R"('{"type": "kafka", "topic": "theirs"}')", "null"}) {
        const std::string id = target == "null" ? "without" : "with";
        ask(*application, "begin; select sluice.assign_slot('" + id + "', 'a', " + kNoonText +
                              ", target => " + target + ")");

        auto outcome = std::async(std::launch::async, [&] {
            return run_all(*one, {{bringing(id), bringing("own " + id)}});
        });
        EXPECT_TRUE(somebody_waits());
        ask(*application, "commit");

        EXPECT_TRUE(outcome.get());
    }

    EXPECT_EQ(row("select string_agg(event_id || ' ' || address_tx, ', ' order by event_id)"
                  " from sluice.work_order"),
              "own with https://h1/hook, own without https://h1/hook, with theirs");
    EXPECT_EQ(row(kSizes), "3 3 0");
}

TEST_P(WorkSlots, LeaveNothingOfAGroupThatIsRefused) {
    Node one = node();
    must(one->put_config(looking_ahead(0, draft("a", 1, 1s))));

    EXPECT_FALSE(run_all(*one, {{bringing("x"), bringing("y")}}));

    EXPECT_EQ(row(kSizes), "0 0 0");
    EXPECT_TRUE(run_all(*one, {{bringing("x"), with_work(assign("y", "a", {kNoon + 1s}))}}));
    EXPECT_EQ(row(kSizes), "2 2 0");
}

TEST_P(WorkSlots, AreComparedByTheirOrdersInStrictMode) {
    Node one = strict_node();
    must(one->put_config(draft("a", 9, 1s)));
    must(one.assign_noon("plain"));
    must(one.run(bringing("x", order("first"))));
    WorkOrder impatient = order("first");
    impatient.expires_after = 5s;

    EXPECT_EQ(one.fault_of(bringing("x", order("first"))), std::nullopt);
    EXPECT_EQ(one.fault_of(bringing("x", order("second"))), SlotFault::DifferentBody);
    EXPECT_EQ(one.fault_of(bringing("x", order("first", "h2"))), SlotFault::DifferentBody);
    EXPECT_EQ(one.fault_of(bringing("x", impatient)), SlotFault::DifferentBody);
    EXPECT_EQ(one.fault_of(assign("x", "a", {kNoon})), SlotFault::DifferentBody);
    EXPECT_EQ(one.fault_of(bringing("plain")), SlotFault::DifferentBody);
    const auto all = run_all(*one, {{bringing("y", order("one")), bringing("y", order("other"))}});
    EXPECT_FALSE(all);
    EXPECT_EQ(row(kSizes), "1 1 0");
    const auto each = run_each(*one, {{bringing("y", order("one")), bringing("y", order("one")),
                                       bringing("y", order("other")), assign("y", "a", {kNoon})}});
    EXPECT_TRUE(each[1]->repeated);
    EXPECT_EQ(each[2].error().fault, SlotFault::DifferentBody);
    EXPECT_EQ(each[3].error().fault, SlotFault::DifferentBody);
}

TEST_P(WorkSlots, AreComparedWithTheOrderOfWhoeverWasFaster) {
    Node one = strict_node();
    must(one->put_config(draft("a", 9, 1s)));
    one.window_of("first");
    const auto application = connect();
    ask(*application, "begin; select sluice.assign_slot('x', 'a', " + kNoonText +
                          R"(, target => '{"type": "log"}', payload => '1'))");

    auto outcome = std::async(std::launch::async, [&] { return one.run(bringing("x")); });
    EXPECT_TRUE(somebody_waits());
    ask(*application, "commit");

    EXPECT_EQ(outcome.get().error().fault, SlotFault::DifferentBody);
    WorkOrder same = order("1");
    same.target = {TargetKind::Log, {}};
    EXPECT_EQ(one.fault_of(bringing("x", same)), std::nullopt);
}

TEST_P(WorkSlots, AreWithdrawnWithTheirSlotUnlessTheyAreOnTheirWay) {
    Node one = node();
    must(one->put_config(draft("a", 99, 1s)));
    for (const char* state : {"1", "4", "5", "6", "7"}) {  // Pending, retrying, dead, parked, expired.
        SCOPED_TRACE(state);
        must(one.run(bringing(state)));
        set_work(state,
                 std::string{"attempt_ct = 1, line_ct = 7, lane_cd = 8, lane_nm = 'l', state_cd = "} + state);

        EXPECT_EQ(must(one.run(CancelSlot{event(state), "10.0.0.1 ops"})).slot.work, WorkMark::Closed);

        EXPECT_EQ(work_of(state, "state_cd, lane_cd, lane_nm = '', line_ct"), "8 0 t 8");
        EXPECT_EQ(row("select concat_ws(' ', line_no, action_cd, by_tx, sluice.to_ms(at_ts)) from"
                      " sluice.dispatch_audit where event_id = '" +
                      std::string{state} + "'"),
                  "7 5 10.0.0.1 ops " + std::to_string(one.clock.now().time_since_epoch().count()));
        EXPECT_EQ(one->find(event(state))->slot.work, WorkMark::Closed);
        EXPECT_TRUE(must(one.run(CancelSlot{event(state)})).repeated);
    }
    EXPECT_EQ(row(kSizes), "5 5 5");
}

TEST_P(WorkSlots, StayWhereTheyAreOnceTheyAreOnTheirWay) {
    Node one = node();
    must(one->put_config(draft("a", 99, 1s)));
    for (const char* state : {"2", "3"}) {  // Claimed, sent.
        SCOPED_TRACE(state);
        must(one.run(bringing(state)));
        set_work(state, std::string{"attempt_ct = 1, state_cd = "} + state);

        EXPECT_EQ(one.fault_of(CancelSlot{event(state)}), SlotFault::AlreadyDispatched);
        EXPECT_EQ(one.fault_of(MoveSlot{event(state), kNoon + 1h}), SlotFault::AlreadyDispatched);

        EXPECT_EQ(work_of(state, "state_cd, line_ct"), std::string{state} + " 0");
        EXPECT_EQ(one->find(event(state))->slot.revision, 0U);
    }
    EXPECT_EQ(one->find(event("2"))->slot.work, WorkMark::Open);
    EXPECT_EQ(one->find(event("3"))->slot.work, WorkMark::Closed);
    EXPECT_EQ(row(kSizes), "2 2 0");
}

TEST_P(WorkSlots, MoveUntilTheyAreTried) {
    Node one = node();
    must(one->put_config(draft("a", 99, 1s)));
    WorkOrder brought = order();
    brought.expires_after = 5s;
    for (const char* id : {"pending", "parked", "retrying", "dead", "again"}) {
        must(one.run(bringing(id, brought)));
    }
    set_work("parked", "state_cd = 6, lane_cd = 5, lane_nm = endpoint_nm");
    set_work("retrying", "state_cd = 4, attempt_ct = 1");
    set_work("dead", "state_cd = 5, lane_cd = 8, attempt_ct = 1");
    set_work("again", "state_cd = 1, attempt_ct = 1");

    for (const char* id : {"pending", "parked"}) {
        SCOPED_TRACE(id);
        const Slot moved = must(one.run(MoveSlot{event(id), kNoon + 1h, "ops"})).slot;

        EXPECT_EQ(moved.work, WorkMark::Open);
        EXPECT_EQ(work_of(id, "state_cd, lane_cd, lane_nm = '', line_ct"), "1 1 t 1");
        const auto story = one->find(event(id));
        EXPECT_EQ(story->work->work.scheduled, moved.scheduled);
        EXPECT_EQ(story->work->work.due, moved.scheduled);
        EXPECT_EQ(story->work->work.expires, moved.scheduled + 5s);
        ASSERT_THAT(story->work->audit, SizeIs(1));
        EXPECT_EQ(story->work->audit[0].action, AuditLine::Action::Moved);
        EXPECT_EQ(story->work->audit[0].by, "ops");
        EXPECT_TRUE(must(one.run(MoveSlot{event(id), kNoon + 1h})).repeated);
    }
    for (const char* id : {"retrying", "dead", "again"}) {
        SCOPED_TRACE(id);
        EXPECT_EQ(one.fault_of(MoveSlot{event(id), kNoon + 1h}), SlotFault::AlreadyDispatched);
    }
    EXPECT_EQ(row(kSizes), "5 5 2");
}

TEST_P(WorkSlots, MoveToThePoolThatTheirConfigHasNow) {
    Node one = node();
    must(one->put_config(draft("a", 99, 1s)));
    must(one.run(bringing("x")));
    must(one->put_config(sharing("b", draft("a", 99, 1s))));

    must(one.run(MoveSlot{event("x"), kNoon + 1h}));

    EXPECT_EQ(work_of("x", "pool_nm"), "b");
}

TEST_P(WorkSlots, TellTheLastLinesOfTheirAuditOldestFirst) {
    Node one = node();
    must(one->put_config(draft("a", 99, 1s)));
    must(one.run(bringing("x")));
    ask(*connect(),
        "insert into sluice.dispatch_audit (event_id, line_no, action_cd, at_ts, attempt_no, status_no,"
        " latency_ms, by_tx, error_tx, excerpt_tx) select 'x', i, 1, sluice.from_ms(i), i, 503, 12, 'node',"
        " 'error', 'excerpt' from generate_series(1, 120) as i");

    const auto audit = one->find(event("x"))->work->audit;

    ASSERT_THAT(audit, SizeIs(kAuditShownMax));
    AuditLine last = attempt_line(120, 503, "error");
    last.at = Instant{120ms};
    last.excerpt = "excerpt";
    EXPECT_EQ(audit.back(), last);
    EXPECT_EQ(audit.front().attempt, 21U);
}

TEST_P(WorkSlots, AreShownParkedAsLongAsTheirEndpointIsHeld) {
    Node one = node();
    must(one->put_config(draft("a", 99, 1s)));
    must(one.run(bringing("x")));
    set_work("x", "state_cd = 6, lane_cd = 5, lane_nm = endpoint_nm");
    ask(*connect(), "insert into sluice.dispatch_hold values (4, 'https://h1:443/hook', 2, now(), 'node')");

    EXPECT_EQ(one->find(event("x"))->work->work.state, WorkState::Parked);
    ask(*connect(), "delete from sluice.dispatch_hold");
    EXPECT_EQ(one->find(event("x"))->work->work.state, WorkState::Pending);
}

TEST_P(WorkSlots, StayWhenTheWindowsOfTheirPoolAreCutAnew) {
    Node one = node();
    must(one->put_config(draft("a", 99, 1s)));
    must(one.run(bringing("x")));
    one.set_server_clock_to(kNoon + 1h);

    must(one->put_config(draft("a", 99, 4s)));

    EXPECT_EQ(row(kSizes), "1 1 0");
    EXPECT_EQ(row("select sum(slot_ct) from rl_wndw_ct"), "1");
    must(one.run(CancelSlot{event("x")}));
    EXPECT_EQ(row("select sum(slot_ct) from rl_wndw_ct"), "0");
}

TEST_P(WorkSlots, TellEveryNodeWhenTheEarliestIsDue) {
    Node one = node();
    Node other = node();
    std::atomic<std::int64_t> here{-1};
    std::atomic<std::int64_t> there{-1};
    const auto noting = [](std::atomic<std::int64_t>& told) {
        return [&told](Instant due) { told = due.time_since_epoch().count(); };
    };
    must(one->put_config(draft("a", 99, 1s)));
    one.postgres().on_due(noting(here));
    other.postgres().on_due(noting(there));

    must(one.assign_noon("plain"));
    const auto granted = run_each(*one, {{with_work(assign("late", "a", {kNoon + 1h})), bringing("soon")}});
    const auto soon = granted[1]->slot.scheduled.time_since_epoch().count();

    EXPECT_TRUE(eventually([&] { return here == soon; }));
    EXPECT_TRUE(eventually([&] { return there == soon; })) << there;
    const Slot moved = must(one.run(MoveSlot{event("late"), kNoon + 2h})).slot;
    EXPECT_TRUE(eventually([&] { return there == moved.scheduled.time_since_epoch().count(); }));
    must(one->put_config(draft("a", 98, 1s)));
    EXPECT_TRUE(eventually([&] { return there == 0; })) << "the rate of the pool may be another";
    one.postgres().on_due(nullptr);
    other.postgres().on_due(nullptr);
}

TEST_P(WorkSlots, TakeWhatTheirConfigSays) {
    Node one = node();
    ConfigDraft terms = draft("a", 9, 1s);
    terms.dispatch.rate = GateTerms{50, RateHolds::Sender};
    terms.dispatch.expires_after = 1h;
    terms.dispatch.retries = RetrySchedule{{5s, 1min}};
    ConfigDraft never_again = draft("b", 9, 1s);
    never_again.dispatch.retries = RetrySchedule{std::vector<Duration>{}};

    EXPECT_EQ(must(one->put_config(terms)).terms.dispatch, terms.dispatch);
    EXPECT_EQ(must(one->put_config(never_again)).terms.dispatch, never_again.dispatch);
    must(one->put_config(draft("c", 9, 1s)));

    Node other = node();
    EXPECT_EQ(must(other->active_config(config("a"))).terms.dispatch, terms.dispatch);
    EXPECT_EQ(must(other->active_config(config("b"))).terms.dispatch, never_again.dispatch);
    EXPECT_EQ(must(other->active_config(config("c"))).terms.dispatch, DispatchDraft{});
    EXPECT_EQ(must(other->config_history(config("a")))[0].terms.dispatch, terms.dispatch);
    EXPECT_EQ(must(other->active_configs())[0].terms.dispatch, terms.dispatch);
    const Slot slot = must(one.run(bringing("x"))).slot;
    EXPECT_EQ(one->find(event("x"))->work->work.expires, slot.scheduled + 1h);
    WorkOrder hasty = order();
    hasty.expires_after = 5s;
    const Slot soon = must(one.run(bringing("y", hasty))).slot;
    EXPECT_EQ(one->find(event("y"))->work->work.expires, soon.scheduled + 5s);
}

}  // namespace
}  // namespace sluice::test
