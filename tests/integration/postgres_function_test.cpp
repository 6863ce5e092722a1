// How sluice.assign_slot finds its way over chunks of windows: a hundred windows of four seconds each, here
// with room for one event.
#include "support/postgres_fixture.hpp"

namespace sluice::test {
namespace {

class PostgresFunction : public PostgresTest {
protected:
    PostgresFunction() : PostgresTest{Furnished::WithSlots} {}

    void SetUp() override {
        PostgresTest::SetUp();
        if (IsSkipped()) {
            return;
        }
        session_ = connect();
        ask(*session_, "select sluice.put_config('a', 1, 4000, 'PT4S', 'a', null, 100, clock_timestamp())");
        now_ = ask(*session_, "select ceil(extract(epoch from now()) / 400) * 400");
    }

    // A time at which a chunk begins, so many days from now.
    [[nodiscard]] std::string chunk_in(int days) const {
        return "to_timestamp(" + now_ + ") + interval '" + std::to_string(days) + " days'";
    }

    // Which windows behind `requested` so many new events get: the first, the last, and how many.
    std::string assign(int events, const std::string& requested, const std::string& later = "0 seconds",
                       const std::string& config = "a") {
        return ask(*session_,
                   "with asked as (select " + requested +
                       " as at), given as (select extract(epoch from s.window_start - asked.at)::int / 4 as w"
                       " from asked, generate_series(1, " +
                       std::to_string(events) + ") i, sluice.assign_slot(gen_random_uuid()::text || i, '" +
                       config + "', asked.at + interval '" + later +
                       "') s) select min(w) || '..' || max(w) || ': ' || count(distinct w) from given");
    }

    std::unique_ptr<postgres::Connection> session_;
    std::string now_;
};

TEST_F(PostgresFunction, FindsTheGapBetweenChunksThatWereMadeOutOfOrder) {
    EXPECT_EQ(assign(1, chunk_in(1), "800 seconds"), "200..200: 1");

    EXPECT_EQ(assign(250, chunk_in(1)), "0..250: 250");
}

TEST_F(PostgresFunction, WritesDownThatARunOfChunksHasNoGap) {
    assign(1, chunk_in(1), "400 seconds");
    assign(102, chunk_in(1));

    EXPECT_EQ(ask(*session_,
                  "select bool_and(run_strt_ts = (select min(req_ts) from rl_wndw_frontier_trk))"
                  " from rl_wndw_frontier_trk"),
              "t");
    EXPECT_EQ(assign(1, chunk_in(1)), "103..103: 1");
}

TEST_F(PostgresFunction, WritesDownWhichWindowsInFrontOfAChunkAreFull) {
    EXPECT_EQ(assign(40, chunk_in(1)), "0..39: 40");

    EXPECT_EQ(ask(*session_,
                  "select full_ct || ' to ' || extract(epoch from full_end_ts - req_ts)::int / 4"
                  " from rl_wndw_frontier_trk"),
              "1 to 26");
    EXPECT_EQ(assign(1, chunk_in(1)), "40..40: 1");
}

TEST_F(PostgresFunction, FindsAWindowThatIsNoLongerFull) {
    assign(40, chunk_in(1));
    ask(*session_,
        "select sluice.cancel_slot(event_id) from (select event_id from rl_event_slot_dtl"
        " order by wndw_strt_ts offset 7 limit 1) as e");

    EXPECT_EQ(assign(1, chunk_in(1)), "7..7: 1");
    EXPECT_EQ(assign(1, chunk_in(1)), "40..40: 1");
}

TEST_F(PostgresFunction, LooksInFrontOfWindowsThatAreFullForALowerCapOnly) {
    ask(*session_, "select sluice.put_config('b', 2, 4000, 'PT4S', 'a', null, 100, clock_timestamp())");
    assign(40, chunk_in(1));

    EXPECT_EQ(assign(40, chunk_in(1), "0 seconds", "b"), "0..39: 40");
    EXPECT_EQ(assign(1, chunk_in(1)), "40..40: 1");
}

TEST_F(PostgresFunction, BelievesNoRunWhoseChunksMayHaveBeenSwept) {
    EXPECT_EQ(assign(201, chunk_in(-1)), "0..200: 201");
    ask(*session_,
        "delete from rl_event_slot_dtl where event_id = (select event_id from rl_event_slot_dtl"
        " order by wndw_strt_ts offset 150 limit 1) returning 1");
    ask(*session_,
        "update rl_wndw_ct w set slot_ct = 0 where not exists (select from rl_event_slot_dtl d"
        " where d.wndw_strt_ts = w.wndw_strt_ts) returning 1");
    ask(*session_,
        "delete from rl_wndw_frontier_trk where req_ts = (select req_ts from rl_wndw_frontier_trk"
        " order by req_ts offset 1 limit 1) returning 1");

    EXPECT_EQ(assign(1, chunk_in(-1)), "150..150: 1");
}

TEST_F(PostgresFunction, PassesALongBacklogThatNobodyHasWrittenBoundsFor) {
    constexpr int kChunks = 200;
    ask(*session_, "select count(sluice.provision('a', (sluice.to_ms(" + chunk_in(1) +
                       ") + i * 400000)::bigint))"
                       " from generate_series(0, " +
                       std::to_string(kChunks - 1) + ") as i");
    ask(*session_, "update rl_wndw_ct set slot_ct = 1 returning 1");

    EXPECT_EQ(assign(1, chunk_in(1)), "20000..20000: 1");
    EXPECT_EQ(ask(*session_, "select count(*) from rl_wndw_frontier_trk where slot_ct_min > 0"), "16");
}

TEST_F(PostgresFunction, PassesNoGapInALongBacklog) {
    ask(*session_, "select count(sluice.provision('a', (sluice.to_ms(" + chunk_in(1) +
                       ") + i * 400000)::bigint))"
                       " from generate_series(0, 40) as i where i <> 30");
    ask(*session_, "update rl_wndw_ct set slot_ct = 1 returning 1");

    EXPECT_EQ(assign(1, chunk_in(1)), "3000..3000: 1");
    EXPECT_EQ(assign(100, chunk_in(1)), "3001..4100: 100");
}

}  // namespace
}  // namespace sluice::test
