#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <thread>

#include <gmock/gmock.h>
#include <unistd.h>

#include "support/cli_process.hpp"
#include "support/cut_network.hpp"
#include "support/postgres_fixture.hpp"
#include "support/raw_http.hpp"
#include "support/temp_folder.hpp"

// `sluice serve --store postgres://...`: what keeps it from starting, and a server that goes away.
namespace sluice::test {
namespace {

using namespace std::chrono_literals;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

const std::string kPassword = "hunter2secret";

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

TEST_F(ServeOnPostgres, SaysThatTheDatabaseIsNotInUtf8) {
    const std::string name = "sluice_latin_" + std::to_string(::getpid());
    ask(*connect(), "create database " + name + " template template0 encoding LATIN1 locale 'C'");

    EXPECT_THAT(refusal(dsn().substr(0, dsn().rfind('/') + 1) + name),
                HasSubstr("encoded in LATIN1, which cannot hold every id: Sluice needs one in UTF8"));

    ask(*connect(), "drop database " + name);
}

TEST_F(ServeOnPostgres, SaysThatCommitsAreNotDurable) {
    ask(*connect(),
        "alter database \"" + dsn().substr(dsn().rfind('/') + 1) + "\" set synchronous_commit = off");
    CliServer sluice{{"--store", dsn()}};

    EXPECT_TRUE(sluice.process().wait_for_error_text("answers commits before they are durable"));
    EXPECT_EQ(call(sluice.port(), "GET", "/readyz").body,
              R"({"status":"degraded","slots":"not_durable","limits":"ok","dispatch":"ok","gateway":"ok"})");
    const CliResult doctor = run_cli({"doctor"}, {{"SLUICE_SERVER", sluice.url()}, {"SLUICE_STORE", dsn()}});
    EXPECT_THAT(doctor.out + doctor.errors, HasSubstr("answers commits before they are durable"));
}

TEST_F(ServeOnPostgres, SaysThatItsClockDiffersFromTheServers) {
    const Variables ahead{{"LD_PRELOAD", "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1"},
                          {"FAKETIME", "+30s"},
                          {"FAKETIME_DONT_FAKE_MONOTONIC", "1"}};
    CliServer sluice{{"--store", dsn()}, ahead};

    EXPECT_TRUE(sluice.process().wait_for_error_text("s ahead of PostgreSQL's; set it right"));
    EXPECT_EQ(
        call(sluice.port(), "GET", "/readyz").body,
        R"({"status":"degraded","slots":"clock_differs","limits":"ok","dispatch":"ok","gateway":"ok"})");
    EXPECT_THAT(call(sluice.port(), "GET", "/metrics").body,
                ContainsRegex("sluice_postgres_clock_difference_seconds (29|30)"));
    Variables doctor = ahead;
    doctor.insert({{"SLUICE_SERVER", sluice.url()}, {"SLUICE_STORE", dsn()}});
    EXPECT_THAT(run_cli({"doctor"}, doctor).out, HasSubstr("s ahead of PostgreSQL's"));
}

TEST_F(ServeOnPostgres, IsNotReadyWhileItsRoleMayOnlyRead) {
    const OwnServer postgres;
    const auto session = test::connect(postgres.dsn());
    ask(*session, "create role node login createrole");
    ask(*session, "grant create on database postgres to node; grant create on schema public to node");
    const CliServer sluice{{"--store", "postgres://node" + postgres.dsn().substr(postgres.dsn().find('@'))}};
    ASSERT_EQ(call(sluice.port(), "GET", "/readyz").status, 200);

    ask(*session, "revoke insert on rl_event_slot_dtl from node");
    EXPECT_TRUE(eventually([&] { return call(sluice.port(), "GET", "/readyz").status == 503; }));
    EXPECT_THAT(call(sluice.port(), "GET", "/metrics").body, HasSubstr("\nsluice_postgres_writable 0\n"));

    ask(*session, "grant insert on rl_event_slot_dtl to node");
    EXPECT_TRUE(eventually([&] { return call(sluice.port(), "GET", "/readyz").status == 200; }));
}

TEST_F(ServeOnPostgres, IsNotReadyWhileTheDiskOfTheDataIsFull) {
    OwnServer postgres;
    const std::string data = postgres.move_to_small_disk();
    CliServer sluice{{"--store", postgres.dsn()}};
    ASSERT_EQ(call(sluice.port(), "GET", "/readyz").status, 200);

    shell("dd if=/dev/zero of=" + data + "/filler bs=1M 2>/dev/null || true");
    EXPECT_TRUE(eventually([&] { return call(sluice.port(), "GET", "/readyz").status == 503; }));
    EXPECT_TRUE(sluice.process().wait_for_error_text("cannot store anything at the moment: could not write"));

    shell("rm " + data + "/filler");
    EXPECT_TRUE(eventually([&] { return call(sluice.port(), "GET", "/readyz").status == 200; }));
}

// PgBouncer before the test's server, until this goes.
class Pooler {
public:
    Pooler(const std::string& server, const std::string& mode) {
        const std::string database = server.substr(server.rfind('/') + 1);
        std::ofstream{folder_ / "pgbouncer.ini"}
            << "[databases]\n"
            << database << " = host=127.0.0.1 port=" << port_of(server) << " user=postgres\n"
            << "[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = " << port_ << "\nunix_socket_dir =\n"
            << "auth_type = any\npool_mode = " << mode << "\nignore_startup_parameters = options\n"
            << "default_pool_size = 50\nlogfile = " << folder_ / "log"
            << "\npidfile = " << folder_ / "pid"
            << "\n";
        shell("chown -R postgres: " + folder_ / "" + "; setpriv --reuid=postgres --regid=postgres" +
              " --init-groups pgbouncer -q -d " + folder_ / "pgbouncer.ini");
        dsn_ = with_port(server, port_);
        EXPECT_TRUE(eventually([this] {
            return ::system(
                       ("/usr/lib/postgresql/15/bin/pg_isready -q -h 127.0.0.1 -p " + std::to_string(port_))
                           .c_str()) == 0;
        }));
    }
    ~Pooler() { shell("kill $(cat " + folder_ / "pid" + ")"); }
    Pooler(const Pooler&) = delete;
    Pooler& operator=(const Pooler&) = delete;

    [[nodiscard]] const std::string& dsn() const { return dsn_; }

private:
    TempFolder folder_;
    const std::uint16_t port_ = free_port();
    std::string dsn_;
};

using PostgresPooler = ServeOnPostgres;

TEST_F(PostgresPooler, InSessionModeIsUsedAndEverySettingIsInForce) {
    const Pooler pooler{dsn(), "session"};
    const auto session = test::connect(pooler.dsn());
    EXPECT_EQ(ask(*session, "show lock_timeout"), "20s");
    EXPECT_EQ(ask(*session, "show timezone"), "UTC");
    EXPECT_EQ(ask(*session, "show default_transaction_isolation"), "read committed");

    const CliServer sluice{{"--store", pooler.dsn()}};
    ASSERT_EQ(sluice.run({"config", "set", "default", "--max-per-window", "5", "--window-size", "PT4S"})
                  .ending.code,
              0);
    EXPECT_EQ(sluice.run({"assign", "x"}).ending.code, 0);
}

TEST_F(PostgresPooler, InTransactionModeIsRefused) {
    const Pooler pooler{dsn(), "transaction"};

    EXPECT_THAT(refusal(pooler.dsn()), HasSubstr("Sluice needs one in session mode (pool_mode = session)"));
    EXPECT_EQ(inventory().find("sluice"), std::string::npos);
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
