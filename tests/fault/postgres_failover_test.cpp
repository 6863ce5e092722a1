// A primary and its synchronous standby, and a node that knows both.
#include <chrono>
#include <csignal>
#include <functional>
#include <future>
#include <map>
#include <thread>

#include <gmock/gmock.h>

#include "store/postgres/client/server_lives.hpp"
#include "support/cli_process.hpp"
#include "support/postgres_fixture.hpp"
#include "support/raw_http.hpp"
#include "support/recording_log.hpp"

namespace sluice::test {
namespace {

using namespace std::chrono_literals;
using testing::Each;
using testing::HasSubstr;

constexpr std::string_view kConfig = R"({"configName":"default","maxPerWindow":100,"windowSize":"PT4S"})";

bool eventually(const std::function<bool()>& holds) {
    const auto deadline = std::chrono::steady_clock::now() + 30s;
    while (!holds()) {
        if (std::chrono::steady_clock::now() > deadline) {
            return false;
        }
        std::this_thread::sleep_for(20ms);  // Between two looks.
    }
    return true;
}

HttpAnswer assign(const CliServer& node, const std::string& event) {
    return call(node.port(), "POST", "/api/v1/slots",
                R"({"eventId":")" + event + R"(","requestedTime":"2030-06-01T12:00:00Z"})");
}

class PostgresFailover : public PostgresTest {
protected:
    void SetUp() override {
        PostgresTest::SetUp();
        if (IsSkipped() || HasFatalFailure()) {
            return;
        }
        primary_ = std::make_unique<OwnServer>();
        standby_ = std::make_unique<OwnServer>(*primary_, OwnServer::StandbyOf::It);
        synchronous(true);
    }

    // Whether commits of the primary wait for the standby.
    void synchronous(bool wanted) {
        const auto session = test::connect(primary_->local_dsn());
        ask(*session, std::string{"alter system "} + (wanted ? "set synchronous_standby_names = '*'"
                                                             : "reset synchronous_standby_names"));
        ask(*session, "select pg_reload_conf()");
        if (wanted) {
            EXPECT_TRUE(eventually(
                [&] { return ask(*session, "select sync_state from pg_stat_replication") == "sync"; }));
        }
    }
    // The standby's session, also while it is one.
    [[nodiscard]] std::unique_ptr<postgres::Connection> at_standby() const {
        return test::connect(standby_->local_dsn() + "&target_session_attrs=any");
    }
    [[nodiscard]] std::string both() const {
        return "postgres://postgres@127.0.0.1:" + std::to_string(port_of(primary_->dsn())) +
               ",127.0.0.1:" + std::to_string(port_of(standby_->dsn())) + "/postgres";
    }
    static std::string count_of(postgres::Connection& session, const std::string& like) {
        return ask(session, "select count(*) from rl_event_slot_dtl where event_id like '" + like + "'");
    }

    std::unique_ptr<OwnServer> primary_;
    std::unique_ptr<OwnServer> standby_;
};

TEST_F(PostgresFailover, AnOldPrimaryThatComesBackIsNotWrittenTo) {
    CliServer node{{"--store", both(), "--log-level", "warn"}};
    ASSERT_EQ(call(node.port(), "POST", "/admin/rate-limit/config", kConfig).status, 200);
    ASSERT_EQ(assign(node, "before").status, 200);

    primary_->kill();
    ask(*at_standby(), "select pg_promote()");
    ASSERT_TRUE(eventually([&] { return assign(node, "between").status == 200; }));
    primary_->revive();
    synchronous(false);  // It takes writes, and waits for nobody.
    const auto promoted = test::connect(standby_->local_dsn());
    for (int round = 0; round < 3;
         ++round) {  // The node needs new connections; the old primary is named first.
        ask(*promoted,
            "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'sluice'"
            " and pid <> pg_backend_pid()");
        for (int i = 0; i < 20; ++i) {
            const std::string event = "after-" + std::to_string(round) + "-" + std::to_string(i);
            ASSERT_TRUE(eventually([&] { return assign(node, event).status == 200; }));
        }
    }

    const CliServer late{{"--store", both()}};  // The old primary would answer it first.
    ASSERT_EQ(assign(late, "after-all").status, 200);

    EXPECT_EQ(count_of(*promoted, "after-%"), "61");
    EXPECT_EQ(count_of(*test::connect(primary_->local_dsn()), "after-%"), "0");
    EXPECT_TRUE(node.process().wait_for_error_text("timeline 2: connections to timeline 1 are dropped"));
    EXPECT_TRUE(node.process().wait_for_error_text("it is an old primary, and is not used"));
    EXPECT_EQ(call(node.port(), "GET", "/readyz").body,
              R"({"status":"degraded","slots":"stray_server","limits":"ok","dispatch":"ok","gateway":"ok"})");
    const std::string metrics = call(node.port(), "GET", "/metrics").body;
    EXPECT_THAT(metrics, HasSubstr("\nsluice_postgres_timeline 2\n"));
    EXPECT_EQ(metrics.find("\nsluice_postgres_strays_refused_total 0\n"), std::string::npos);
}

TEST_F(PostgresFailover, ANodeHearsOfANewPrimaryWithoutLosingTheOldOne) {
    synchronous(false);  // Both take writes for a while, as when somebody promotes by mistake.
    const CliServer node{{"--store", both()}};
    ASSERT_EQ(call(node.port(), "POST", "/admin/rate-limit/config", kConfig).status, 200);
    ASSERT_EQ(assign(node, "before").status, 200);
    ASSERT_TRUE(eventually([&] { return count_of(*at_standby(), "before") == "1"; }));

    ask(*at_standby(), "select pg_promote()");
    const auto promoted = test::connect(standby_->local_dsn());
    int asked = 0;
    EXPECT_TRUE(eventually([&] {
        const std::string event = "after-" + std::to_string(++asked);
        return assign(node, event).status == 200 && count_of(*promoted, event) == "1";
    }));
}

TEST_F(PostgresFailover, ANewerTimelineDropsTheConnectionsToTheOlder) {
    constexpr postgres::Statement kCreate{"create", "create table thing (id int8)"};
    RecordingLog log;
    auto settings = test_settings(primary_->dsn());
    settings.lives = std::make_shared<postgres::ServerLives>(log);
    const auto before = postgres::Connection::open(settings);
    ASSERT_TRUE(before);
    ask(*at_standby(), "select pg_promote()");

    settings.dsn = standby_->dsn();
    const auto after = postgres::Connection::open(settings);
    ASSERT_TRUE(after);
    const auto created = (*before)->run(kCreate);
    settings.dsn = both();
    const auto chosen = postgres::Connection::open(settings);
    settings.dsn = primary_->dsn();
    const auto refused = postgres::Connection::open(settings);

    EXPECT_FALSE((*before)->usable());
    ASSERT_FALSE(created);
    EXPECT_TRUE(created.error().connection_lost);
    EXPECT_EQ(
        ask(*test::connect(primary_->local_dsn()), "select count(*) from pg_class where relname = 'thing'"),
        "0");
    ASSERT_TRUE(chosen) << chosen.error().message;
    EXPECT_EQ(ask(**chosen, "select left(pg_walfile_name(pg_current_wal_lsn()), 8)"), "00000002");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().sqlstate, postgres::kStrayServer);
    EXPECT_EQ(log.count_starting("ERROR ServerLives - PostgreSQL at 127.0.0.1:"), 1U) << "said once";
}

TEST_F(PostgresFailover, NothingIsAnsweredFromRowsThatTheStandbyDoesNotHave) {
    CliServer batch{{"--store", primary_->dsn()}, {{"SLUICE_SLOTS_POSTGRES_MODE", "batch"}}};
    CliServer function{{"--store", primary_->dsn()}, {{"SLUICE_SLOTS_POSTGRES_MODE", "function"}}};
    const std::map<std::string, const CliServer*> nodes{{"batch", &batch}, {"function", &function}};
    ASSERT_EQ(call(batch.port(), "POST", "/admin/rate-limit/config", kConfig).status, 200);
    const auto session = test::connect(primary_->local_dsn());
    const auto receiver =
        static_cast<pid_t>(std::stoi(ask(*at_standby(), "select pid from pg_stat_wal_receiver")));
    // Asks all nodes at once. Whoever waits for the standby is cancelled meanwhile, which makes the rows
    // visible without it.
    const auto ask_all =
        [&](const std::function<HttpAnswer(const std::string&, const CliServer&)>& question) {
            std::vector<std::future<HttpAnswer>> answers;
            for (const auto& [name, node] : nodes) {
                answers.push_back(std::async(std::launch::async, question, name, std::cref(*node)));
            }
            std::vector<int> statuses;
            for (auto& answer : answers) {
                while (answer.wait_for(10ms) != std::future_status::ready) {
                    ask(*session,
                        "select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'");
                }
                statuses.push_back(answer.get().status);
            }
            return statuses;
        };
    const auto assigning = [](const std::string& name, const CliServer& node) { return assign(node, name); };
    const auto looking = [](const std::string& name, const CliServer& node) {
        return call(node.port(), "GET", "/api/v1/slots/" + name);
    };

    ::kill(receiver, SIGSTOP);
    EXPECT_THAT(ask_all(assigning), Each(503));
    EXPECT_EQ(count_of(*session, "%"), "2") << "they are there";
    EXPECT_THAT(ask_all(assigning), Each(503));
    EXPECT_THAT(ask_all(looking), Each(503));
    EXPECT_TRUE(eventually([&] { return call(batch.port(), "GET", "/readyz").status == 503; }));
    ::kill(receiver, SIGCONT);

    EXPECT_TRUE(eventually([&] { return call(batch.port(), "GET", "/readyz").status == 200; }));
    EXPECT_TRUE(eventually([&] { return ask_all(assigning) == std::vector<int>{200, 200}; }));
    EXPECT_THAT(ask_all(looking), Each(200));
    EXPECT_EQ(count_of(*at_standby(), "%"), "2");
}

}  // namespace
}  // namespace sluice::test
