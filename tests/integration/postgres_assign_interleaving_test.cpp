#include "support/postgres_interleaving.hpp"

namespace sluice::test {
namespace {

using testing::ElementsAre;

class AssignInterleaving : public Interleaving {};

INSTANTIATE_TEST_SUITE_P(Ways, AssignInterleaving, testing::Values(AssignWay::Batch, AssignWay::Function),
                         [](const auto& way) {
                             return way.param == AssignWay::Batch ? "Batch" : "Function";
                         });

TEST_P(AssignInterleaving, PassesOverWindowsThatAnOpenTransactionHolds) {
    Node one = node();
    must(one->put_config(draft("a", 2, 1s)));
    one.window_of("first");
    const auto application = connect();
    ask(*application, "begin");
    ask(*application, call_assign("x"));

    EXPECT_EQ(one.window_of("y"), 1);
    ask(*application, "rollback");
    EXPECT_EQ(one.window_of("z"), 0);
}

TEST_P(AssignInterleaving, PassesOverAnyNumberOfHeldWindows) {
    Node one = node();
    must(one->put_config(draft("a", 2, 1s)));
    one.window_of("first");
    const auto application = connect();
    hold_windows(*application, 90);

    EXPECT_EQ(one.window_of("y"), 90);
    ask(*application, "rollback");
    EXPECT_EQ(one.window_of("z"), 0);
}

TEST_P(AssignInterleaving, NeverSaysExhaustedWhileOthersHoldWhatHasRoom) {
    Node one = node();
    must(one->put_config(looking_ahead(2, draft("a", 2, 1s))));
    one.window_of("first");
    const auto application = connect();
    ask(*application, "begin");
    for (int i = 0; i < 5; ++i) {
        ask(*application, call_assign("x" + std::to_string(i)));
    }

    EXPECT_EQ(one.fault_of(assign("y", "a", SlotAsk{kNoon})), SlotFault::Contended);
    ask(*application, "rollback");
    EXPECT_EQ(one.window_of("y"), 0);
    for (int i = 0; i < 4; ++i) {
        ask(*application, call_assign("x" + std::to_string(i)));
    }
    EXPECT_EQ(one.fault_of(assign("z", "a", SlotAsk{kNoon})), SlotFault::Exhausted);
    EXPECT_EQ(state_of(*application, call_assign("z")), "SL503");
}

TEST_P(AssignInterleaving, AGroupOfAllOrNoneIsContendedToo) {
    Node one = node();
    must(one->put_config(looking_ahead(0, draft("a", 2, 1s))));
    one.window_of("first");
    const auto application = connect();
    hold_windows(*application, 1);
    const AssignAll group{{assign("x", "a", SlotAsk{kNoon + 100s}), assign("y", "a", SlotAsk{kNoon})}};

    const AllOutcome refused = run_all(*one, group);
    ask(*application, "rollback");

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().error.fault, SlotFault::Contended);
    EXPECT_EQ(counts(1), std::vector<Places>{1});
    EXPECT_TRUE(run_all(*one, group));
}

TEST_P(AssignInterleaving, TwoNodesGiveOneEventOneSlot) {
    constexpr int kEvents = 60;
    Node one = node();
    Node two = node();
    must(one->put_config(draft("a", 3, 1s)));
    std::latch start{2};
    const auto assign_all = [&](Node& node) {
        start.arrive_and_wait();
        std::vector<Slot> slots;
        for (int i = 0; i < kEvents; ++i) {
            slots.push_back(must(node.assign_noon("e" + std::to_string(i))).slot);
        }
        return slots;
    };

    auto first = std::async(std::launch::async, [&] { return assign_all(one); });
    auto second = std::async(std::launch::async, [&] { return assign_all(two); });

    EXPECT_EQ(first.get(), second.get());
    EXPECT_EQ(ask(*connect(), "select sum(slot_ct) from rl_wndw_ct"), std::to_string(kEvents));
}

TEST_P(AssignInterleaving, AnEventWhoseAssignmentIsOpenIsWaitedFor) {
    Node one = node();
    must(one->put_config(draft("a", 9, 1s)));
    one.window_of("first");
    const auto application = connect();
    ask(*application, "begin");
    const std::string given = ask(*application,
                                  "select sluice.to_ms(scheduled_time) from"
                                  " sluice.assign_slot('x', 'a', " +
                                      kNoonText + ")");

    auto assigned = std::async(std::launch::async, [&] { return one.assign_noon("x"); });
    ASSERT_TRUE(somebody_waits());
    ask(*application, "commit");

    const Granted granted = must(assigned.get());
    EXPECT_TRUE(granted.repeated);
    EXPECT_EQ(std::to_string(granted.slot.scheduled.time_since_epoch().count()), given);
    EXPECT_THAT(counts(2), ElementsAre(2, 0));
}

TEST_P(AssignInterleaving, AnOpenAssignmentOfOneEventSpoilsNobodyElse) {
    Node one{dsn(), {GetParam(), 100, 300ms}};  // It is waited for in vain, several times.
    must(one->put_config(draft("a", 9, 1s)));
    one.window_of("first");
    const auto application = connect();
    ask(*application, "begin");
    ask(*application, call_assign("x"));
    std::vector<SlotCommand> commands;
    for (const char* id : {"a", "b", "c", "w", "x", "y", "z"}) {
        commands.emplace_back(assign(id, "a", SlotAsk{kNoon}));
    }

    const auto replies = (*one).execute(commands);

    for (std::size_t i = 0; i < commands.size(); ++i) {
        const auto& outcome = std::get<SlotOutcome>(replies[i]);
        ASSERT_EQ(outcome.has_value(), i != 4) << i;
        EXPECT_TRUE(outcome || outcome.error().fault == SlotFault::Contended);
    }
    ask(*application, "rollback");
    EXPECT_TRUE(one.assign_noon("x"));
    EXPECT_EQ(ask(*application, "select sum(slot_ct) from rl_wndw_ct"), "8");
}

TEST_P(AssignInterleaving, APlaceThatAGroupTookInVainIsFoundAgain) {
    Node one{dsn(), {GetParam(), 1}};
    must(one->put_config(draft("a", 1, 1s)));
    const auto application = connect();
    ask(*application, "select count(sluice.provision('a', sluice.to_ms(" + kNoonText +
                          ") + i * 1000)) from generate_series(0, 5) as i");
    ask(*application, "begin");
    ask(*application, call_assign("x"));

    auto group = std::async(std::launch::async, [&] {
        return state_of(*connect(), "select sluice.assign_slots('{x,y,z}', 'a', " + kNoonText + ")");
    });
    ASSERT_TRUE(somebody_waits());  // For x, with windows 1 to 3 taken and the first two seen to be full.
    ask(*application, "commit");

    EXPECT_EQ(group.get(), "");
    EXPECT_THAT(counts(4), ElementsAre(1, 0, 1, 1));
    EXPECT_EQ(one.window_of("next"), 1);
}

TEST_P(AssignInterleaving, AGapBetweenProvisionedRangesIsNotJumpedOver) {
    Node one{dsn(), {GetParam(), 4}};
    must(one->put_config(draft("a", 1, 1s)));
    for (int i = 0; i < 4; ++i) {
        EXPECT_EQ(one.window_of("near" + std::to_string(i)), i);
    }
    EXPECT_EQ(one.window_of("far", kNoon + 400s), 400);
    Node two{dsn(), {GetParam(), 4}};

    EXPECT_EQ(two.window_of("x"), 4);
    EXPECT_EQ(one.window_of("y"), 5);
}

TEST_P(AssignInterleaving, ChunksThatWereFilledSaySo) {
    Node one{dsn(), {GetParam(), 4}};
    must(one->put_config(draft("a", 10, 1s)));
    AssignEach each;  // Three fit into a window, twelve into a chunk.
    for (int i = 0; i < 40; ++i) {
        each.events.push_back(assign("e" + std::to_string(i), "a", SlotAsk{kNoon, 3}));
    }
    const SlotCommand command{each};

    (*one).execute({&command, 1});

    const auto session = connect();
    EXPECT_TRUE(eventually([&] {
        return ask(*session,
                   "select string_agg(slot_ct_min::text, ',' order by req_ts) from rl_wndw_frontier_trk"
                   " where req_ts < timestamptz " +
                       kNoonText + " + interval '16 s'") == "9,9,9,0";
    }));
}

TEST_P(AssignInterleaving, AnExhaustedRequestMakesNoCountersElsewhere) {
    Node one = node();
    must(one->put_config(looking_ahead(0, draft("a", 1, 1s))));
    EXPECT_EQ(one.window_of("x"), 0);
    EXPECT_EQ(one.fault_of(assign("y", "a", SlotAsk{kNoon})), SlotFault::Exhausted);
    EXPECT_EQ(one.fault_of(assign("z", "a", SlotAsk{kNoon})), SlotFault::Exhausted);

    // What is made in the background is made in this order: when the second is there, so is the first.
    one.window_of("later", kNoon + 1h);

    const auto session = connect();
    EXPECT_TRUE(eventually([&] {
        return ask(*session, "select count(*) from rl_wndw_ct where wndw_strt_ts >= timestamptz " +
                                 kNoonText + " + interval '1 h 90 s'") != "0";
    }));
    EXPECT_EQ(ask(*session, "select count(*) from rl_wndw_ct where wndw_strt_ts < '2025-01-01Z'"), "0");
}

TEST_P(AssignInterleaving, ABatchOfAllOrNoneDoesNotDependOnHowNullsAreRead) {
    ask(*connect(),
        "alter database " + ask(*connect(), "select current_database()") + " set array_nulls = off");
    Node one = node();
    must(one->put_config(draft("a", 5, 1s)));
    const SlotCommand command{
        AssignAll{{assign("x", "a", SlotAsk{kNoon}), assign("y", "a", SlotAsk{kNoon})}}};

    const auto replies = (*one).execute({&command, 1});

    EXPECT_TRUE(std::get<AllOutcome>(replies.front()));
    ask(*connect(), "alter database " + ask(*connect(), "select current_database()") + " reset array_nulls");
}

TEST_P(AssignInterleaving, ASlotLivesAndDiesWithTheApplicationsTransaction) {
    Node one = node();
    must(one->put_config(draft("a", 2, 1s)));
    const auto application = connect();
    ask(*application, "create table my_order (id text)");

    ask(*application, "begin");
    ask(*application, "insert into my_order values ('x')");
    ask(*application, call_assign("x"));
    ask(*application, "rollback");

    EXPECT_EQ(ask(*application, "select count(*) from rl_event_slot_dtl"), "0");
    EXPECT_EQ(ask(*application, "select coalesce(sum(slot_ct), 0) from rl_wndw_ct"), "0");
    EXPECT_EQ(one->find(event("x")).error().fault, SlotFault::UnknownEvent);

    ask(*application, "begin; insert into my_order values ('x'); " + call_assign("x") + "; commit");

    EXPECT_EQ(ask(*application, "select count(*) from my_order join rl_event_slot_dtl on event_id = id"),
              "1");
    EXPECT_THAT(counts(1), ElementsAre(1));
    EXPECT_TRUE(must(one.assign_noon("x")).repeated);
}

TEST_P(AssignInterleaving, ProvisioningInAnOpenTransactionKeepsNobodyWaiting) {
    Node one{dsn(), {GetParam(), 10}};
    must(one->put_config(draft("a", 2, 1s)));
    const auto application = connect();
    ask(*application, "begin");
    ask(*application, call_assign("x"));  // Provisions the first ten windows, for nobody else to see.

    EXPECT_EQ(one.window_of("y"), 10);
    std::vector<SlotCommand> many;
    for (int i = 0; i < 256; ++i) {
        many.emplace_back(assign("many" + std::to_string(i), "a", SlotAsk{kNoon}));
    }
    const auto start = std::chrono::steady_clock::now();
    for (const SlotReply& reply : one->execute(many)) {
        EXPECT_TRUE(std::get<SlotOutcome>(reply));
    }
    EXPECT_LT(std::chrono::steady_clock::now() - start, 5s) << "as if each event waited for itself";
    ask(*application, "rollback");
    EXPECT_EQ(one.window_of("z"), 0);
}

}  // namespace
}  // namespace sluice::test
