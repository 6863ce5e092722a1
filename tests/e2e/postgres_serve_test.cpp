#include <algorithm>
#include <chrono>
#include <functional>
#include <thread>

#include <gmock/gmock.h>

#include "support/cli_process.hpp"
#include "support/postgres_fixture.hpp"
#include "support/raw_http.hpp"

// `sluice serve --store postgres://...`: what keeps it from starting, and a server that goes away.
namespace sluice::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

const std::string kPassword = "hunter2secret";

class ServeOnPostgres : public PostgresTest {
protected:
    // Starts a server that cannot, and gives the sentence that says why.
    static std::string refusal(const std::string& address) {
        const CliResult result = run_cli({"serve", "--listen", "127.0.0.1:0", "--store", address});
        EXPECT_EQ(result.ending.code, 1) << result.errors;
        EXPECT_EQ(std::count(result.errors.begin(), result.errors.end(), '\n'), 1) << result.errors;
        EXPECT_THAT(result.out + result.errors, Not(HasSubstr(kPassword)));
        return result.errors;
    }

    // All that the database holds besides what every database does.
    [[nodiscard]] std::string inventory() const {
        return ask(*connect(),
                   "select coalesce(string_agg(name, ' ' order by name), '') from ("
                   " select nspname::text as name from pg_namespace where nspname not like 'pg\\_%'"
                   " union all select c.oid::regclass::text from pg_class c where c.relnamespace not in"
                   " ('pg_catalog'::regnamespace, 'information_schema'::regnamespace,"
                   " 'pg_toast'::regnamespace)) as things");
    }

    [[nodiscard]] std::string as_user(const std::string& user) const {
        return "postgres://" + user + ":" + kPassword + dsn().substr(dsn().find('@'));
    }
};

TEST_F(ServeOnPostgres, SaysThatNobodyIsThere) {
    EXPECT_THAT(refusal("postgres://postgres:" + kPassword + "@127.0.0.1:1/x"),
                HasSubstr("PostgreSQL cannot be reached"));
}

TEST_F(ServeOnPostgres, SaysThatTheRoleLacksRightsAndLeavesNothing) {
    const std::string role = "sluice_test_poor_" + std::to_string(port_of(dsn()));
    ask(*connect(), "drop role if exists " + role);
    ask(*connect(), "create role " + role + " login");
    const std::string before = inventory();

    EXPECT_THAT(refusal(as_user(role)), HasSubstr("lacks rights"));

    EXPECT_EQ(inventory(), before);
    ask(*connect(), "drop role " + role);
}

TEST_F(ServeOnPostgres, SaysThatTheRoleMayMakeNoRoleAndLeavesNothing) {
    const OwnServer postgres;  // Another test's role is on the shared one.
    const auto session = test::connect(postgres.dsn());
    ask(*session, "create role poor login");
    ask(*session, "grant create on database postgres to poor; grant create on schema public to poor");

    EXPECT_THAT(refusal("postgres://poor:" + kPassword + postgres.dsn().substr(postgres.dsn().find('@'))),
                HasSubstr("lacks rights for creating role sluice_client"));

    EXPECT_EQ(ask(*session, "select count(*) from pg_class where relowner = 'poor'::regrole"), "0");
    EXPECT_EQ(ask(*session, "select count(*) from pg_namespace where nspname = 'sluice'"), "0");
}

TEST_F(ServeOnPostgres, SaysThatATableIsSomebodyElsesAndLeavesNothing) {
    ask(*connect(), "create table rl_wndw_ct (something text)");
    const std::string before = inventory();

    EXPECT_THAT(refusal(as_user("postgres")), HasSubstr("rl_wndw_ct exists already and is not Sluice's"));

    EXPECT_EQ(inventory(), before);
}

TEST_F(ServeOnPostgres, SaysThatTheSchemaIsNewer) {
    ask(*connect(),
        "create schema sluice; create table sluice.schema_version"
        " (version int primary key, name text not null, applied_at timestamptz not null);"
        " insert into sluice.schema_version values (99, 'future', now())");
    const std::string before = inventory();

    EXPECT_THAT(refusal(as_user("postgres")), HasSubstr("newer Sluice"));

    EXPECT_EQ(inventory(), before);
}

bool eventually(const std::function<bool()>& holds) {
    const auto deadline = std::chrono::steady_clock::now() + 20s;
    while (!holds()) {
        if (std::chrono::steady_clock::now() > deadline) {
            return false;
        }
        std::this_thread::sleep_for(20ms);  // Between two looks.
    }
    return true;
}

TEST_F(ServeOnPostgres, AnswersUnavailableWhileTheServerIsAwayAndRecovers) {
    OwnServer postgres;
    CliServer sluice{{"--store", postgres.dsn()}};
    EXPECT_THAT(sluice.process().errors(), HasSubstr("store on PostgreSQL at 127.0.0.1:"));
    const auto assign = [&](const std::string& id) { return sluice.run({"assign", id, "--output", "json"}); };
    ASSERT_EQ(sluice.run({"config", "set", "default", "--max-per-window", "5", "--window-size", "PT4S"})
                  .ending.code,
              0);
    const std::string before = assign("x").out;
    ASSERT_EQ(call(sluice.port(), "GET", "/readyz").status, 200);

    postgres.kill();

    const auto refused = call(sluice.port(), "POST", "/api/v1/slots",
                              R"({"eventId":"y","requestedTime":"2025-06-01T12:00:00Z"})");
    EXPECT_EQ(refused.status, 503);
    EXPECT_NE(refused.header("Retry-After"), "");
    EXPECT_TRUE(eventually([&] { return call(sluice.port(), "GET", "/readyz").status == 503; }));
    EXPECT_EQ(call(sluice.port(), "GET", "/healthz").status, 200);
    EXPECT_TRUE(sluice.process().wait_for_error_text("PostgreSQL cannot be reached"));
    EXPECT_THAT(sluice.process().errors(), HasSubstr("server at \"127.0.0.1\", port "));

    postgres.revive();

    EXPECT_TRUE(eventually([&] { return call(sluice.port(), "GET", "/readyz").status == 200; }));
    EXPECT_EQ(assign("x").out, before);
    EXPECT_EQ(assign("y").ending.code, 0);
}

}  // namespace
}  // namespace sluice::test
