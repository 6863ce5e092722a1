#include <chrono>
#include <future>

#include <gmock/gmock.h>

#include "support/postgres_fixture.hpp"

// What an application may do with the functions in schema sluice, and what it is told.
namespace sluice::test {
namespace {

using postgres::Connection;

constexpr const char* kDenied = "42501";

std::string state_of(Connection& session, const std::string& sql) {
    const auto rows = session.run_script(sql);
    return rows ? "" : rows.error().sqlstate;
}

class SqlFunctions : public PostgresTest {
protected:
    SqlFunctions() : PostgresTest{Furnished::WithSlots} {}

    void SetUp() override {
        PostgresTest::SetUp();
        if (!IsSkipped()) {
            owner_ = connect();
            ask(*owner_, "select sluice.put_config('a', 2, 1000, 'PT1S', 'a', 1, 100, clock_timestamp())");
        }
    }

    // A session with no rights but those of sluice_client.
    [[nodiscard]] std::unique_ptr<Connection> client() const {
        auto session = connect();
        ask(*session, "set role sluice_client");
        return session;
    }

    // Waits until some session of this database waits for a lock; false after ten seconds.
    [[nodiscard]] bool somebody_waits() const {
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{10};
        while (ask(*owner_,
                   "select count(*) from pg_stat_activity"
                   " where datname = current_database() and wait_event_type = 'Lock'") == "0") {
            if (std::chrono::steady_clock::now() > deadline) {
                return false;
            }
        }
        return true;
    }

    static std::string call(const std::string& arguments) {
        return "select sluice.assign_slot(" + arguments + ")";
    }

    std::unique_ptr<Connection> owner_;
};

TEST_F(SqlFunctions, AClientMayAssignAndNothingElse) {
    const auto session = client();

    EXPECT_EQ(state_of(*session, call("'x', 'a', '2025-06-01Z'")), "");
    EXPECT_EQ(state_of(*session, "select * from sluice.assign_slots('{x,y}', 'a', '2025-06-01Z')"), "");

    for (const std::string relation :
         {"rl_event_wndw_config", "rl_wndw_ct", "rl_event_slot_dtl", "rl_wndw_frontier_trk", "sluice.pool",
          "sluice.slot_past", "sluice.schema_version", "sluice.recount", "sluice.rate_limit_event_slot",
          "sluice.limit_state", "sluice.plan", "sluice.admin_plan", "\"PostgresEntity\"",
          "sluice.gateway_message", "sluice.gateway_request", "sluice.gateway_outbox"}) {
        EXPECT_EQ(state_of(*session, "select * from " + relation), kDenied) << relation;
        EXPECT_NE(state_of(*session, "delete from " + relation), "") << relation;
    }
    EXPECT_EQ(state_of(*session, "select nextval('sluice.slot_number')"), kDenied);
    EXPECT_EQ(state_of(*session, "select sluice.new_lease()"), kDenied);
    EXPECT_EQ(ask(*owner_,
                  "select string_agg(p.proname, ' ' order by p.proname) from pg_proc p"
                  " where p.pronamespace = 'sluice'::regnamespace"
                  " and has_function_privilege('sluice_client', p.oid, 'execute')"),
              "allow assign_slot assign_slots");
    EXPECT_EQ(ask(*owner_,
                  "select count(*) from pg_proc p, aclexplode(p.proacl) granted"
                  " where p.pronamespace = 'sluice'::regnamespace and granted.grantee = 0"),
              "0");
}

TEST_F(SqlFunctions, AHostileSearchPathChangesNothing) {
    ask(*owner_, "create schema trap");
    ask(*owner_, "create table trap.rl_event_slot_dtl (event_id text)");
    ask(*owner_,
        "create function trap.clock_timestamp() returns timestamptz language plpgsql as"
        " $$ begin raise exception 'trapped'; end $$");
    ask(*owner_,
        "create function trap.floor(numeric) returns numeric language plpgsql as"
        " $$ begin raise exception 'trapped'; end $$");
    ask(*owner_,
        "create function trap.pg_notify(text, text) returns void language plpgsql as"
        " $$ begin raise exception 'trapped'; end $$");
    ask(*owner_, "grant usage on schema trap to sluice_client");
    const auto session = client();
    ask(*session, "create temporary table rl_event_slot_dtl (event_id text)");
    ask(*session, "create temporary table rl_wndw_ct (pool_nm text)");
    ask(*session, "set search_path = trap, pg_temp, pg_catalog");

    EXPECT_EQ(state_of(*session, call("'x', 'a', '2025-06-01Z', 1, '5 s'")), "");

    EXPECT_EQ(ask(*owner_, "select count(*) from public.rl_event_slot_dtl where event_id = 'x'"), "1");
    ask(*owner_, "drop schema trap cascade");
}

TEST_F(SqlFunctions, FailuresAreToldBySqlState) {
    const auto session = client();

    EXPECT_EQ(state_of(*session, call("'x', 'nowhere', '2025-06-01Z'")), "SL404");
    for (const char* wrong :
         {"'', 'a', '2025-06-01Z'", "null, 'a', '2025-06-01Z'", "repeat('x', 256), 'a', '2025-06-01Z'",
          "E'a\\nb', 'a', '2025-06-01Z'", "'x', 'a', null", "'x', 'a', '1969-12-31Z'", "'x', 'a', 'infinity'",
          "'x', 'a', '-infinity'", "'x', 'a', now() + interval '11 years'", "'x', 'a', '2025-06-01Z', 0",
          "'x', 'a', '2025-06-01Z', null", "'x', 'a', '2025-06-01Z', 3", "'x', 'a', '2025-06-01Z', 1, '0 s'",
          "'x', 'a', '2025-06-01Z', 1, '-1 s'", "'x', 'a', '2025-06-01Z', 1, '32 days'"}) {
        EXPECT_EQ(state_of(*session, call(wrong)), "SL400") << wrong;
    }
    EXPECT_EQ(state_of(*session, "select * from sluice.assign_slots(null, 'a', '2025-06-01Z')"), "SL400");
    EXPECT_EQ(state_of(*session, "select * from sluice.assign_slots('{x,null}', 'a', '2025-06-01Z')"),
              "SL400");
    EXPECT_EQ(ask(*owner_, "select count(*) from rl_event_slot_dtl"), "0");

    ask(*session, "select * from sluice.assign_slots('{a,b,c,d}', 'a', '2025-06-01Z')");
    EXPECT_EQ(state_of(*session, call("'x', 'a', '2025-06-01Z'")), "SL503");
    EXPECT_EQ(state_of(*session, "select * from sluice.assign_slots('{a,x}', 'a', '2025-06-01Z')"), "SL503");
    EXPECT_EQ(ask(*owner_, "select sum(slot_ct) from rl_wndw_ct"), "4");
}

TEST_F(SqlFunctions, AnEventThatAnotherTransactionHoldsIsContended) {
    const auto holder = client();
    const auto session = client();
    ask(*holder, "begin");
    ask(*holder, call("'x', 'a', '2025-06-01Z'"));

    EXPECT_EQ(state_of(*session, call("'x', 'a', '2025-06-01 01:00Z'")), "SL409");

    ask(*holder, "rollback");
    EXPECT_EQ(state_of(*session, call("'x', 'a', '2025-06-01 01:00Z'")), "");
}

TEST_F(SqlFunctions, ArraysInAnyOrderDoNotDeadlock) {
    const auto first = client();
    const auto second = client();
    ask(*first, "begin");
    ask(*first, "select * from sluice.assign_slots('{B}', 'a', '2025-06-01Z')");

    // In byte order B comes first: nothing is held while it is waited for. In a dictionary's order a does.
    auto waiting = std::async(std::launch::async, [&] {
        return state_of(*second, "select * from sluice.assign_slots('{a,B}', 'a', '2025-06-01 01:00Z')");
    });
    ASSERT_TRUE(somebody_waits());
    const std::string state =
        state_of(*first, "select * from sluice.assign_slots('{a}', 'a', '2025-06-01Z')");
    ask(*first, "commit");

    EXPECT_EQ(state, "");
    EXPECT_EQ(waiting.get(), "");
    EXPECT_EQ(ask(*owner_, "select count(*) from sluice.recount where counted <> recounted"), "0");
}

}  // namespace
}  // namespace sluice::test
