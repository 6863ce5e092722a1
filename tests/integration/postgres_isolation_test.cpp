// Applications in REPEATABLE READ and SERIALIZABLE: all that they see may be old. They are told to try again
// (40001), or get what is right now; the cap holds, and they leave nothing wrong behind.
#include "support/postgres_interleaving.hpp"

namespace sluice::test {
namespace {

using postgres::Connection;

constexpr const char* kTryAgain = "40001";

class Isolation : public PostgresTest, public testing::WithParamInterface<const char*> {
protected:
    Isolation() : PostgresTest{Furnished::WithSlots} {}

    void SetUp() override {
        PostgresTest::SetUp();
        if (!IsSkipped()) {
            other_ = connect();
            put_config(1);
        }
    }

    void TearDown() override {
        if (!IsSkipped()) {
            EXPECT_EQ(ask(*other_, "select count(*) from sluice.recount where counted <> recounted"), "0");
            EXPECT_EQ(ask(*other_, "select count(*) from (" + kWindowsBelowTheirBounds + ") as w"), "0");
        }
    }

    // Four windows of a second in a chunk, and so many more than the first within reach.
    void put_config(int cap, int lookahead = 2) const {
        ask(*other_, "select sluice.put_config('a', " + std::to_string(cap) + ", 1000, 'PT1S', 'a', " +
                         std::to_string(lookahead) + ", 4, clock_timestamp())");
    }
    void fill() const {
        ask(*other_, "select * from sluice.assign_slots('{w0,w1,w2}', 'a', " + kNoonText + ")");
    }

    // A transaction whose snapshot is taken now.
    [[nodiscard]] std::unique_ptr<Connection> begin() const {
        auto session = connect();
        ask(*session, std::string{"begin isolation level "} + GetParam());
        ask(*session, "select 1");
        ask(*session, "select count(*) from rl_event_slot_dtl");
        return session;
    }
    // Each call as a transaction makes it; what it fails with.
    static std::string call_both(Connection& session, const std::string& event_id) {
        ask(session, "savepoint before");
        const std::string many = state_of(
            session, "select * from sluice.assign_slots('{" + event_id + "}', 'a', " + kNoonText + ")");
        ask(session, "rollback to before");
        const std::string one = state_of(session, call_assign(event_id));
        return one == many ? one : one + " and " + many;
    }

    std::unique_ptr<Connection> other_;
};

INSTANTIATE_TEST_SUITE_P(Levels, Isolation, testing::Values("repeatable read", "serializable"),
                         [](const auto& level) {
                             return level.param[0] == 'r' ? "RepeatableRead" : "Serializable";
                         });

TEST_P(Isolation, AssignsLikeAnybodyWhileNothingChanges) {
    const auto session = begin();

    EXPECT_EQ(
        ask(*session, "select extract(second from window_start)::int from sluice.assign_slot('x', 'a', " +
                          kNoonText + ")"),
        "0");
    EXPECT_EQ(ask(*session,
                  "select string_agg(extract(second from window_start)::int::text, ',')"
                  " from sluice.assign_slots('{y,x,z}', 'a', " +
                      kNoonText + ")"),
              "1,0,2");
    EXPECT_EQ(call_both(*session, "full"), "SL503");
    ask(*session, "rollback to before; commit");
}

TEST_P(Isolation, TriesAgainWhenTheConfigIsAnotherByNow) {
    put_config(3);
    ask(*other_, call_assign("before"));
    const auto session = begin();
    put_config(1);

    EXPECT_EQ(call_both(*session, "x"), kTryAgain);
    ask(*session, "rollback");
    EXPECT_EQ(ask(*other_, "select max(slot_ct) from rl_wndw_ct"), "1");
}

TEST_P(Isolation, TriesAgainWhenAFullWindowIsOpenByNow) {
    fill();
    const auto session = begin();
    ask(*other_, "select sluice.cancel_slot('w1')");

    EXPECT_EQ(call_both(*session, "x"), kTryAgain);
}

TEST_P(Isolation, TriesAgainWhenAWindowOfAChunkThatIsPassedOverIsOpenByNow) {
    put_config(1);
    fill();
    ask(*other_, "select sluice.assign_slot('w3', 'a', timestamptz " + kNoonText + " + '3 s')");
    ask(*other_,
        "select sluice.raise_bounds('a', " + kNoonText + ", timestamptz " + kNoonText + " + '4 s', 0)");
    ASSERT_EQ(ask(*other_, "select slot_ct_min from rl_wndw_frontier_trk"), "1");
    const auto session = begin();
    ask(*other_, "select sluice.cancel_slot('w1')");

    EXPECT_EQ(call_both(*session, "x"), kTryAgain);
}

TEST_P(Isolation, RaisesNoBoundOverAPlaceThatWasGivenBack) {
    put_config(1, 9);
    fill();
    ask(*other_, "select sluice.assign_slot('w3', 'a', timestamptz " + kNoonText + " + '3 s')");
    ask(*other_, "update rl_wndw_frontier_trk set slot_ct_min = 0, full_end_ts = null, full_ct = null");
    const auto session = begin();
    ask(*other_, "select sluice.cancel_slot('w1')");

    EXPECT_EQ(state_of(*session, call_assign("x") + "; commit"), "") << "it sees no change, and none matters";

    EXPECT_EQ(
        ask(*other_, "select extract(second from window_start)::int from sluice.assign_slot('y', 'a', " +
                         kNoonText + ")"),
        "1");
}

TEST_P(Isolation, TriesAgainWhenAKnownEventIsNotWhatItWas) {
    ask(*other_, call_assign("x"));
    const auto session = begin();
    ask(*other_, "select sluice.cancel_slot('x')");

    EXPECT_EQ(call_both(*session, "x"), kTryAgain);
}

TEST_P(Isolation, TriesAgainWhenAnotherTookTheEventOrMadeTheCounters) {
    const auto late = begin();
    ask(*other_, call_assign("x"));

    EXPECT_EQ(call_both(*late, "x"), kTryAgain);
    ask(*late, "rollback");
    const auto later = begin();
    EXPECT_EQ(call_both(*later, "x"), "");
}

TEST_P(Isolation, OfALimitTriesAgainWhenTheKeyOrThePlanIsAnotherByNow) {
    const auto plan = [&](int limit) {
        ask(*other_, "select sluice.put_plans('{gold}', '{fixed_window}', '{1}', '{" + std::to_string(limit) +
                         "}', '{0}', '{3600000000}', '{f}')");
    };
    const auto allow = [](Connection& session, int cost) {
        return state_of(session, "select * from sluice.allow('k', 'gold', " + std::to_string(cost) + ")");
    };
    for (const int cost : {0, 1}) {
        SCOPED_TRACE(cost);
        ask(*other_, "delete from sluice.limit_state");
        plan(10);
        const auto first = begin();
        ask(*other_, "select * from sluice.allow('k', 'gold', 10)");
        EXPECT_EQ(allow(*first, cost), kTryAgain) << "the key came";
        const auto second = begin();
        ask(*other_, "update sluice.limit_state set idle_at = idle_at");
        EXPECT_EQ(allow(*second, cost), kTryAgain) << "the key was charged";
        const auto third = begin();
        plan(5);
        EXPECT_EQ(allow(*third, cost), kTryAgain) << "the plan changed";
        EXPECT_EQ(allow(*begin(), cost), "");
    }
}

}  // namespace
}  // namespace sluice::test
