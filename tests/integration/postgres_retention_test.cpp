#include <gmock/gmock.h>

#include "contract/slot_store_contract.hpp"
#include "store/postgres/slots/postgres_slot_store.hpp"
#include "support/postgres_fixture.hpp"

namespace sluice::test {
namespace {

class SilentPool final : public postgres::PoolMetrics {
public:
    void waited(std::chrono::nanoseconds) override {}
};

class PostgresRetention : public PostgresTest {
protected:
    PostgresRetention() : PostgresTest{Furnished::WithSlots} {}

    std::unique_ptr<PostgresSlotStore> open(std::optional<Duration> retention) {
        PostgresSlotOptions options;
        options.retention = retention;
        auto server = open_server({test_settings(dsn()), 2, 8}, around_.log, pool_metrics_);
        auto opened = open_postgres_slot_store(std::move(server), options,
                                               {around_.clock, around_.metrics, around_.log});
        return opened ? std::move(*opened) : throw std::runtime_error{opened.error()};
    }

    // Three events in windows of their own, each a day after the one before, and one of them moved.
    void fill() {
        const auto store = open(std::nullopt);
        must(store->put_config(draft("a", 10, 4s)));
        for (int day = 0; day < 3; ++day) {
            must(run_one(*store, assign("day" + std::to_string(day), "a", {kNoon + day * 24h})));
        }
        must(run_one(*store, MoveSlot{event("day0"), kNoon + 1h}));
    }

    // True once the query gives the answer; housekeeping has its own time.
    bool comes_true(const std::string& sql, const std::string& answer) {
        const auto connection = connect();
        const auto deadline = std::chrono::steady_clock::now() + 20s;
        while (ask(*connection, sql) != answer) {
            if (std::chrono::steady_clock::now() > deadline) {
                return false;
            }
            std::this_thread::yield();
        }
        return true;
    }

    StoreSurroundings around_;
    SilentPool pool_metrics_;
};

TEST_F(PostgresRetention, ForgetsWindowsTogetherWithTheirSlotsByTheServersClock) {
    fill();
    around_.clock.set(kNoon + 30 * 24h);  // This node's is wrong; the server's decides.
    set_server_clock(*connect(), kNoon + 36h + 24h);

    const auto store = open(24h);

    EXPECT_TRUE(
        comes_true("select string_agg(event_id, ',' order by event_id) from rl_event_slot_dtl", "day2"));
    EXPECT_TRUE(comes_true("select count(*) from sluice.slot_past", "0"));
    EXPECT_TRUE(comes_true("select count(*) from sluice.recount where counted <> recounted", "0"));
    EXPECT_TRUE(
        comes_true("select count(*) from rl_wndw_ct where wndw_strt_ts < (select min(wndw_strt_ts)"
                   " from rl_event_slot_dtl) - interval '1 day'",
                   "0"));
    EXPECT_FALSE(must(run_one(*store, assign("day0", "a", {kNoon}))).repeated);
    EXPECT_TRUE(must(run_one(*store, assign("day2", "a", {kNoon + 48h}))).repeated);
}

TEST_F(PostgresRetention, KeepsEverythingUnlessOneIsSet) {
    fill();
    set_server_clock(*connect(), kNoon + 3650 * 24h);

    const auto store = open(std::nullopt);

    // The frontier is swept in the same turn, before windows would be.
    EXPECT_TRUE(comes_true("select count(*) from rl_wndw_frontier_trk", "0"));
    EXPECT_TRUE(must(run_one(*store, assign("day0", "a", {kNoon}))).repeated);
}

}  // namespace
}  // namespace sluice::test
