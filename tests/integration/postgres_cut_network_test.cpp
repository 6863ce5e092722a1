// Sessions that a node leaves on the server: when its network is cut, and when commits wait for a standby.
#include <algorithm>
#include <csignal>
#include <future>
#include <thread>

#include "store/postgres/client/connection_pool.hpp"
#include "store/postgres/client/server_lives.hpp"
#include "support/cut_network.hpp"
#include "support/postgres_fixture.hpp"
#include "support/recording_log.hpp"

namespace sluice::postgres {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Clock = ConnectionPool::Clock;
using test::ask;
using test::OwnServer;

constexpr std::size_t kMax = 4;
constexpr Statement kNap{"nap", "select pg_sleep(0.2)"};
constexpr Statement kInsert{"insert", "insert into thing default values"};

class NoMetrics final : public PoolMetrics {
public:
    void waited(std::chrono::nanoseconds /*duration*/) override {}
};

class PostgresSessions : public test::PostgresTest {
protected:
    // A pool that gives up soon.
    PoolSettings settings(const std::string& dsn) {
        PoolSettings settings;
        settings.connect = test::test_settings(dsn);
        settings.connect.connect_timeout = seconds{2};
        settings.connect.statement_timeout = milliseconds{800};
        settings.connect.silence_margin = milliseconds{400};
        settings.connect.lives = std::make_shared<ServerLives>(log_);
        settings.min = 1;
        settings.max = kMax;
        return settings;
    }

    // Uses every connection that the pool may open, at once; gives how many got one.
    static int use_all(ConnectionPool& pool, const Statement& statement) {
        std::vector<std::future<bool>> users;
        for (std::size_t i = 0; i < kMax; ++i) {
            users.push_back(std::async(std::launch::async, [&] {
                const auto lease = pool.take(Clock::now() + seconds{5});
                return lease && ((*lease)->run(statement).has_value() || true);
            }));
        }
        return static_cast<int>(std::ranges::count_if(users, [](auto& user) { return user.get(); }));
    }

    static std::size_t sessions(Connection& server) {
        return std::stoul(ask(server,
                              "select count(*) from pg_stat_activity where application_name = 'sluice'"
                              " and client_addr is not null"));
    }

    // Waits, for at most twenty seconds, until it is so.
    template <class Condition>
    static bool soon(const Condition& condition) {
        const auto deadline = Clock::now() + seconds{20};
        while (!condition()) {
            if (Clock::now() > deadline) {
                return false;
            }
            std::this_thread::sleep_for(milliseconds{10});  // Between two looks.
        }
        return true;
    }

    test::RecordingLog log_;
    NoMetrics metrics_;
};

TEST_F(PostgresSessions, AreEndedWhenANodeComesBackFromACutNetwork) {
    test::CutNetwork network;
    OwnServer server{{network.at_server(), network.server_address()}};
    const auto direct = test::connect(server.local_dsn());
    std::size_t most = 0;
    network.at_node([&] {
        ConnectionPool pool{settings(server.dsn()), log_, metrics_};
        // The server notices by itself when a node does not come back.
        EXPECT_TRUE(soon([&] {
            const auto timers = test::shell(network.at_server() + "ss -Htno state established");
            return timers.find("keepalive") != std::string::npos;
        }));
        for (int round = 0; round < 3; ++round) {
            ASSERT_TRUE(soon([&] {
                use_all(pool, kNap);
                return sessions(*direct) >= kMax;
            }));

            network.cut();
            network.move_node();
            ASSERT_TRUE(soon([&] { return use_all(pool, kNap) == 0; }));
            network.heal();

            ASSERT_TRUE(soon([&] {
                most = std::max(most, sessions(*direct));
                return pool.take(Clock::now() + seconds{5}).has_value();
            }));
            most = std::max(most, sessions(*direct));
        }
        EXPECT_TRUE(soon([&] { return sessions(*direct) <= kMax; }));
    });

    // One more, which finds the others and ends them.
    EXPECT_LE(most, kMax + 1);
}

TEST_F(PostgresSessions, ThatWaitForAFrozenStandbyDoNotPileUp) {
    OwnServer primary;
    const OwnServer standby{primary, OwnServer::StandbyOf::It};
    const auto direct = test::connect(primary.local_dsn());
    ask(*direct, "create table thing (id bigint generated always as identity)");
    ask(*direct, "alter system set synchronous_standby_names = '*'");
    ask(*direct, "select pg_reload_conf()");
    ASSERT_TRUE(soon([&] { return ask(*direct, "select sync_state from pg_stat_replication") == "sync"; }));
    const auto receiver =
        static_cast<pid_t>(std::stoi(ask(*test::connect(standby.local_dsn() + "&target_session_attrs=any"),
                                         "select pid from pg_stat_wal_receiver")));

    std::size_t most = 0;
    ConnectionPool pool{settings(primary.dsn()), log_, metrics_};
    ::kill(receiver, SIGSTOP);
    for (int round = 0; round < 4; ++round) {
        use_all(pool, kInsert);
        most = std::max(most, sessions(*direct));
    }
    ::kill(receiver, SIGCONT);

    EXPECT_LE(most, kMax + 1);
    EXPECT_TRUE(soon([&] { return use_all(pool, kInsert) == int{kMax}; }));
}

}  // namespace
}  // namespace sluice::postgres
