#pragma once

#include <atomic>
#include <future>
#include <latch>

#include <gmock/gmock.h>

#include "contract/slot_store_contract.hpp"
#include "store/postgres/slots/postgres_slot_store.hpp"
#include "support/counting_metrics.hpp"
#include "support/hand_clock.hpp"
#include "support/postgres_fixture.hpp"
#include "support/recording_log.hpp"
#include "support/slot_words.hpp"

// Two and three sessions in a scripted order, on a real server: one test for each rule of concurrency.
namespace sluice::test {

inline const std::string kNoonText = "'2025-06-01 12:00:00Z'";

class SilentPool final : public postgres::PoolMetrics {
public:
    void waited(std::chrono::nanoseconds) override {}
};

struct NodeOptions {
    AssignWay way = AssignWay::Batch;
    std::int32_t windows_in_chunk = 100;
    std::chrono::milliseconds lock_timeout{1500};  // Longer than it takes to see that somebody waits.
    bool strict = false;
};

// One Sluice of several on a database.
class Node {
public:
    Node(const std::string& dsn, NodeOptions options) {
        static std::atomic<std::uint64_t> seed{0};
        PostgresSlotOptions slots;
        slots.ledger.seed = ++seed;  // Nodes are told apart by it.
        slots.ledger.strict = options.strict;
        slots.way = options.way;
        slots.windows_in_chunk = options.windows_in_chunk;
        postgres::PoolSettings settings{test_settings(dsn), 1, 8};
        settings.connect.lock_timeout = options.lock_timeout;
        auto opened = open_postgres_slot_store(open_server(settings, log_, pool_metrics_), slots,
                                               {clock, metrics_, log_});
        if (!opened) {
            throw std::runtime_error{opened.error()};
        }
        store_ = std::move(*opened);
        server_ = connect(dsn);
        set_server_clock(*server_, clock.now());
    }

    SlotStore& operator*() { return *store_; }
    SlotStore* operator->() { return store_.get(); }
    PostgresSlotStore& postgres() { return *store_; }

    // The server's clock, which decides; the node's is the server's until one of them is set.
    void set_server_clock_to(Instant now) { set_server_clock(*server_, now); }

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
    std::unique_ptr<postgres::Connection> server_;
};

// The SQLSTATE that a script fails with; empty when it does not.
inline std::string state_of(postgres::Connection& session, const std::string& sql) {
    const auto rows = session.run_script(sql);
    return rows ? "" : rows.error().sqlstate;
}

inline std::string call_assign(const std::string& event_id, const std::string& config_name = "a") {
    return "select sluice.assign_slot('" + event_id + "', '" + config_name + "', " + kNoonText + ")";
}

class Interleaving : public PostgresTest, public testing::WithParamInterface<AssignWay> {
protected:
    Interleaving() : PostgresTest{Furnished::WithSlots} {}

    void TearDown() override {
        if (!IsSkipped() && !HasFatalFailure()) {
            EXPECT_EQ(ask(*connect(), "select count(*) from sluice.recount where counted <> recounted"), "0");
            EXPECT_EQ(ask(*connect(), "select count(*) from (" + kWindowsBelowTheirBounds + ") as w"), "0");
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

    // Fills windows of pool a from noon on with one slot each, as other nodes would, and tells nobody.
    void fill_windows(std::int64_t windows) const {
        const std::string start = "timestamptz " + kNoonText + " + i * interval '1 s'";
        const std::string each = " from generate_series(0, " + std::to_string(windows - 1) + ") as i";
        ask(*connect(), "insert into rl_wndw_ct (pool_nm, wndw_strt_ts, slot_ct) select 'a', " + start +
                            ", 1" + each +
                            " on conflict (pool_nm, wndw_strt_ts) do update set slot_ct = 1;"
                            " insert into rl_event_slot_dtl (event_id, req_ts, wndw_strt_ts,"
                            " computed_sched_ts, rl_wndw_config_id, pool_nm) select 'full' || i, " +
                            start + ", " + start + ", " + start + ", 'cfg-1', 'a'" + each);
    }

    // Locks the first windows from noon on, as an application's open transaction would.
    static void hold_windows(postgres::Connection& session, int windows) {
        ask(session, "begin");
        ask(session, "select 1 from rl_wndw_ct where pool_nm = 'a' and wndw_strt_ts >= " + kNoonText +
                         " and wndw_strt_ts < timestamptz " + kNoonText + " + " + std::to_string(windows) +
                         " * interval '1 s' for update");
    }
};

}  // namespace sluice::test
