#include <atomic>
#include <future>
#include <latch>

#include <gmock/gmock.h>

#include "contract/slot_store_contract.hpp"
#include "store/postgres/postgres_slot_store.hpp"
#include "support/counting_metrics.hpp"
#include "support/hand_clock.hpp"
#include "support/postgres_fixture.hpp"
#include "support/recording_log.hpp"
#include "support/slot_words.hpp"

// Two and three sessions in a scripted order, on a real server: one test for each rule of concurrency.
namespace sluice::test {
namespace {

using postgres::Connection;
using testing::ElementsAre;

const std::string kNoonText = "'2025-06-01 12:00:00Z'";

class SilentPool final : public postgres::PoolMetrics {
public:
    void waited(std::chrono::nanoseconds) override {}
};

struct NodeOptions {
    AssignWay way = AssignWay::Batch;
    std::int32_t windows_in_chunk = 100;
    std::chrono::milliseconds lock_timeout{1500};  // Longer than it takes to see that somebody waits.
};

// One Sluice of several on a database.
class Node {
public:
    Node(const std::string& dsn, NodeOptions options) {
        static std::atomic<std::uint64_t> seed{0};
        PostgresSlotOptions slots;
        slots.ledger.seed = ++seed;  // Nodes are told apart by it.
        slots.way = options.way;
        slots.windows_in_chunk = options.windows_in_chunk;
        postgres::PoolSettings settings{test_settings(dsn), 1, 8};
        settings.connect.lock_timeout = options.lock_timeout;
        auto opened = open_postgres_slot_store(settings, slots, {clock, metrics_, log_}, pool_metrics_);
        if (!opened) {
            throw std::runtime_error{opened.error()};
        }
        store_ = std::move(*opened);
    }

    SlotStore& operator*() { return *store_; }
    SlotStore* operator->() { return store_.get(); }

    SlotOutcome run(SlotCommand command) { return run_one(*store_, std::move(command)); }
    SlotOutcome assign_noon(std::string_view id) { return run(assign(id, "a", SlotAsk{kNoon})); }
    // Where an event is put, in windows of a second after noon. REQUIRES: it is.
    std::int64_t window_of(std::string_view id, Instant requested = kNoon) {
        const auto outcome = run(assign(id, "a", SlotAsk{requested}));
        EXPECT_TRUE(outcome) << id << ": " << (outcome ? "" : outcome.error().detail);
        return outcome ? (outcome->slot.window_start - kNoon) / 1s : -1;
    }
    std::optional<SlotFault> fault_of(SlotCommand command) {
        const SlotOutcome outcome = run(std::move(command));
        return outcome ? std::nullopt : std::optional{outcome.error().fault};
    }

    HandClock clock{kNoon - 1h};

private:
    CountingMetrics metrics_;
    RecordingLog log_{LogLevel::Error};
    SilentPool pool_metrics_;
    std::unique_ptr<PostgresSlotStore> store_;
};

// The SQLSTATE that a script fails with; empty when it does not.
std::string state_of(Connection& session, const std::string& sql) {
    const auto rows = session.run_script(sql);
    return rows ? "" : rows.error().sqlstate;
}

std::string call_assign(const std::string& event_id, const std::string& config_name = "a") {
    return "select sluice.assign_slot('" + event_id + "', '" + config_name + "', " + kNoonText + ")";
}

class Interleaving : public PostgresTest, public testing::WithParamInterface<AssignWay> {
protected:
    Interleaving() : PostgresTest{Furnished::WithSlots} {}

    void TearDown() override {
        if (!IsSkipped() && !HasFatalFailure()) {
            EXPECT_EQ(ask(*connect(), "select count(*) from sluice.recount where counted <> recounted"), "0");
        }
    }

    [[nodiscard]] Node node() const { return Node{dsn(), {GetParam()}}; }

    // Waits until a condition holds that another session or thread brings about; false after ten seconds.
    static bool eventually(const std::function<bool()>& holds) {
        const auto deadline = std::chrono::steady_clock::now() + 10s;
        while (!holds()) {
            if (std::chrono::steady_clock::now() > deadline) {
                return false;
            }
            std::this_thread::sleep_for(2ms);  // Between two looks.
        }
        return true;
    }

    // Some session of this database waits for a lock.
    [[nodiscard]] bool somebody_waits() const {
        const auto session = connect();
        return eventually([&] {
            return ask(*session,
                       "select count(*) from pg_stat_activity"
                       " where datname = current_database() and wait_event_type = 'Lock'") != "0";
        });
    }

    // What the windows of pool a hold from noon on.
    std::vector<Places> counts(std::int64_t windows) const {
        const auto session = connect();
        std::vector<Places> result;
        for (std::int64_t i = 0; i < windows; ++i) {
            result.push_back(static_cast<Places>(
                std::stoul("0" + ask(*session,
                                     "select slot_ct from rl_wndw_ct where pool_nm = 'a' and wndw_strt_ts"
                                     " = timestamptz " +
                                         kNoonText + " + " + std::to_string(i) + " * interval '1 s'"))));
        }
        return result;
    }

    // Locks the first windows from noon on, as an application's open transaction would.
    static void hold_windows(Connection& session, int windows) {
        ask(session, "begin");
        ask(session, "select 1 from rl_wndw_ct where pool_nm = 'a' and wndw_strt_ts >= " + kNoonText +
                         " and wndw_strt_ts < timestamptz " + kNoonText + " + " + std::to_string(windows) +
                         " * interval '1 s' for update");
    }
};

INSTANTIATE_TEST_SUITE_P(Ways, Interleaving, testing::Values(AssignWay::Batch, AssignWay::Function),
                         [](const auto& way) {
                             return way.param == AssignWay::Batch ? "Batch" : "Function";
                         });

std::string put_in_sql(int cap) {
    return "select sluice.put_config('a', " + std::to_string(cap) +
           ", 1000, 'PT1S', 'a', null, 100, timestamptz " + kNoonText + " - interval '1 h')";
}

TEST_P(Interleaving, AConfigChangeWaitsForARunningAssign) {
    Node one = node();
    must(one->put_config(draft("a", 1, 1s)));
    const auto application = connect();
    ask(*application, "begin");
    ask(*application, call_assign("x"));

    auto change = std::async(std::launch::async, [&] { return one->put_config(draft("a", 5, 1s)); });
    ASSERT_TRUE(somebody_waits());
    EXPECT_EQ(one->active_config(config("a"))->terms.max_per_window, 1);
    ask(*application, "commit");

    EXPECT_EQ(must(change.get()).terms.max_per_window, 5);
    EXPECT_EQ(one.window_of("y"), 0);
}

TEST_P(Interleaving, AnAssignWaitsForARunningConfigChangeAndWritesNothingFromTheOldCap) {
    Node one = node();
    must(one->put_config(draft("a", 9, 1s)));
    one.window_of("known");  // The node has the old version in its cache.
    const auto administrator = connect();
    ask(*administrator, "begin");
    ask(*administrator, put_in_sql(1));

    auto assigned = std::async(std::launch::async, [&] {
        const AssignEach all{{assign("x", "a", SlotAsk{kNoon}), assign("y", "a", SlotAsk{kNoon})}};
        const SlotCommand command{all};
        return (*one).execute({&command, 1});
    });
    ASSERT_TRUE(somebody_waits());
    ask(*administrator, "commit");

    const auto replies = assigned.get();
    for (const SlotOutcome& outcome : std::get<EachOutcome>(replies.front())) {
        EXPECT_EQ(config_id_text(must(outcome).slot.config_id), "cfg-2");
    }
    EXPECT_THAT(counts(3), ElementsAre(1, 1, 1));
}

TEST_P(Interleaving, AMoveThatWaitedForAConfigChangeIsMadeUnderTheNewVersion) {
    Node one = node();
    must(one->put_config(draft("a", 9, 1s)));
    one.window_of("x");
    const auto administrator = connect();
    ask(*administrator, "begin");
    ask(*administrator, put_in_sql(1));

    auto moved = std::async(std::launch::async, [&] { return one.run(MoveSlot{event("x"), kNoon + 1s}); });
    ASSERT_TRUE(somebody_waits());
    ask(*administrator, "commit");

    EXPECT_EQ(config_id_text(must(moved.get()).slot.config_id), "cfg-2");
    EXPECT_THAT(counts(2), ElementsAre(0, 1));
}

TEST_P(Interleaving, PassesOverWindowsThatAnOpenTransactionHolds) {
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

TEST_P(Interleaving, PassesOverAnyNumberOfHeldWindows) {
    Node one = node();
    must(one->put_config(draft("a", 2, 1s)));
    one.window_of("first");
    const auto application = connect();
    hold_windows(*application, 90);

    EXPECT_EQ(one.window_of("y"), 90);
    ask(*application, "rollback");
    EXPECT_EQ(one.window_of("z"), 0);
}

TEST_P(Interleaving, NeverSaysExhaustedWhileOthersHoldWhatHasRoom) {
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

TEST_P(Interleaving, AGroupOfAllOrNoneIsContendedToo) {
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

TEST_P(Interleaving, TwoNodesGiveOneEventOneSlot) {
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

TEST_P(Interleaving, AnEventWhoseAssignmentIsOpenIsWaitedFor) {
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

TEST_P(Interleaving, AnOpenAssignmentOfOneEventSpoilsNobodyElse) {
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

TEST_P(Interleaving, ConcurrentCancelsGiveThePlaceBackOnce) {
    Node one = node();
    must(one->put_config(draft("a", 3, 1s)));
    one.window_of("x");
    one.window_of("y");
    const auto other = connect();
    ask(*other, "begin");
    ask(*other, "select sluice.cancel_slot('x')");

    auto cancelled = std::async(std::launch::async, [&] { return one.run(CancelSlot{event("x")}); });
    ASSERT_TRUE(somebody_waits());
    ask(*other, "commit");

    EXPECT_TRUE(must(cancelled.get()).repeated);
    EXPECT_THAT(counts(1), ElementsAre(1));
}

TEST_P(Interleaving, AMoveThatLosesAgainstACancelIsRefused) {
    Node one = node();
    must(one->put_config(draft("a", 3, 1s)));
    one.window_of("x");
    const auto other = connect();
    ask(*other, "begin");
    ask(*other, "select sluice.cancel_slot('x')");

    auto moved = std::async(std::launch::async, [&] { return one.run(MoveSlot{event("x"), kNoon + 2s}); });
    ASSERT_TRUE(somebody_waits());
    ask(*other, "commit");

    EXPECT_EQ(moved.get().error().fault, SlotFault::Cancelled);
    EXPECT_THAT(counts(3), ElementsAre(0, 0, 0));
}

TEST_P(Interleaving, ACancelAfterAMoveGivesTheNewPlaceBack) {
    Node one = node();
    must(one->put_config(draft("a", 3, 1s)));
    one.window_of("x");
    const auto other = connect();
    ask(*other, "begin");
    ask(*other, "select sluice.move_slot('x', sluice.to_ms(" + kNoonText + ") + 2000)");

    auto cancelled = std::async(std::launch::async, [&] { return one.run(CancelSlot{event("x")}); });
    ASSERT_TRUE(somebody_waits());
    EXPECT_THAT(counts(3), ElementsAre(1, 0, 0));
    ask(*other, "commit");

    EXPECT_FALSE(must(cancelled.get()).repeated);
    EXPECT_THAT(counts(3), ElementsAre(0, 0, 0));
}

TEST_P(Interleaving, OfTwoMovesTheLaterOneStands) {
    Node one = node();
    must(one->put_config(draft("a", 3, 1s)));
    one.window_of("x");
    const auto other = connect();
    ask(*other, "begin");
    ask(*other, "select sluice.move_slot('x', sluice.to_ms(" + kNoonText + ") + 2000)");

    auto moved = std::async(std::launch::async, [&] { return one.run(MoveSlot{event("x"), kNoon + 1s}); });
    ASSERT_TRUE(somebody_waits());
    ask(*other, "commit");

    EXPECT_EQ(must(moved.get()).slot.revision, 2U);
    EXPECT_THAT(counts(3), ElementsAre(0, 1, 0));
}

TEST_P(Interleaving, ACancelOnOneNodeMakesRoomOnTheOthers) {
    Node one = node();
    Node two = node();
    must(one->put_config(draft("a", 1, 1s)));
    for (int i = 0; i < 4; ++i) {
        EXPECT_EQ(two.window_of("e" + std::to_string(i)), i);
    }

    ASSERT_TRUE(one.run(CancelSlot{event("e1")}));

    int tries = 0;
    EXPECT_TRUE(eventually([&] {
        const EventId probe = event("probe" + std::to_string(tries++));
        const bool found = must(two.run(assign(probe, "a", SlotAsk{kNoon}))).slot.window_start == kNoon + 1s;
        if (!found) {
            must(two.run(CancelSlot{probe}));
        }
        return found;
    }));
}

TEST_P(Interleaving, AFlushOnOneNodeReachesTheOthersAtOnce) {
    Node one = node();
    Node two = node();
    must(one->put_config(draft("a", 1, 1s)));
    ASSERT_EQ(two->active_config(config("a"))->terms.max_per_window, 1);
    ask(*connect(), "update rl_event_wndw_config set wndw_max_event_ct = 7");
    ASSERT_EQ(two->active_config(config("a"))->terms.max_per_window, 1);

    one->flush_config_cache();

    EXPECT_TRUE(eventually([&] { return two->active_config(config("a"))->terms.max_per_window == 7; }));
}

TEST_P(Interleaving, ARaisedCapOpensWindowsOnTheOtherNodeAtOnce) {
    Node one = node();
    Node two = node();
    must(one->put_config(draft("a", 1, 1s)));
    EXPECT_EQ(two.window_of("x"), 0);
    EXPECT_EQ(two.window_of("y"), 1);

    must(one->put_config(draft("a", 2, 1s)));

    EXPECT_EQ(two.window_of("z"), 0);
    EXPECT_TRUE(eventually([&] { return two->active_config(config("a"))->terms.max_per_window == 2; }));
}

TEST_P(Interleaving, ALoweredCapHoldsOnTheOtherNodeAtOnce) {
    Node one = node();
    Node two = node();
    must(one->put_config(draft("a", 3, 1s)));
    EXPECT_EQ(two.window_of("x"), 0);

    must(one->put_config(draft("a", 1, 1s)));

    EXPECT_EQ(two.window_of("y"), 1);
    EXPECT_EQ(two.window_of("z"), 2);
}

TEST_P(Interleaving, AGapBetweenProvisionedRangesIsNotJumpedOver) {
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

TEST_P(Interleaving, AWindowSizeChangesOnlyWhenNothingDependsOnIt) {
    Node one = node();
    Node two = node();
    must(one->put_config(draft("a", 2, 1s)));
    for (int i = 0; i < 5; ++i) {
        two.window_of("e" + std::to_string(i));
    }

    EXPECT_EQ(one->put_config(draft("a", 2, 4s)).error().fault, SlotFault::WindowSizeInUse);
    one.clock.set(kNoon + 1h);
    must(one->put_config(sharing("a", draft("b", 1, 1s))));
    EXPECT_EQ(one->put_config(draft("a", 6, 4s)).error().fault, SlotFault::PoolWindowSize);
    must(one->put_config(draft("b", 1, 1s)));  // To a pool of its own.
    must(one->put_config(draft("a", 6, 4s)));

    EXPECT_THAT(counts(1), ElementsAre(5));
    EXPECT_EQ(two.window_of("x"), 0);
    EXPECT_EQ(two.window_of("y"), 4);
}

TEST_P(Interleaving, ProvisioningKeepsOutOfAChangeOfTheWindowSize) {
    Node one{dsn(), {GetParam(), 10}};
    must(one->put_config(draft("a", 2, 1s)));
    const auto change = connect();
    const auto provisioner = connect();
    const std::string chunk = "2051222400000";  // Of both sizes.
    const std::string old_chunk = "2051222410000";
    const auto provision = [&](const std::string& start) {
        return ask(*provisioner, "select sluice.provision('a', " + start + ")");
    };

    ask(*change, "begin; select pg_advisory_xact_lock(7301, hashtext('a'))");
    EXPECT_EQ(provision(chunk), "f");
    ask(*change, "rollback");
    must(one->put_config(draft("a", 2, 4s)));

    EXPECT_EQ(provision(old_chunk), "f");
    EXPECT_EQ(ask(*provisioner, "select count(*) from rl_wndw_ct"), "0");
    EXPECT_EQ(provision(chunk), "t");
    EXPECT_EQ(ask(*provisioner, "select count(*) from rl_wndw_ct"), "10");
}

TEST_P(Interleaving, ASlotLivesAndDiesWithTheApplicationsTransaction) {
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

TEST_P(Interleaving, ProvisioningInAnOpenTransactionKeepsNobodyWaiting) {
    Node one{dsn(), {GetParam(), 10}};
    must(one->put_config(draft("a", 2, 1s)));
    const auto application = connect();
    ask(*application, "begin");
    ask(*application, call_assign("x"));  // Provisions the first ten windows, for nobody else to see.

    EXPECT_EQ(one.window_of("y"), 10);
    ask(*application, "rollback");
    EXPECT_EQ(one.window_of("z"), 0);
}

}  // namespace
}  // namespace sluice::test
