#include <atomic>
#include <ctime>
#include <future>

#include "store/postgres/client/connection_pool.hpp"
#include "store/postgres/client/server_lives.hpp"
#include "support/postgres_fixture.hpp"
#include "support/recording_log.hpp"
#include "support/tcp_proxy.hpp"

namespace sluice::postgres {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::ask;
using test::RecordingLog;
using test::TcpProxy;

class CountingWaits final : public PoolMetrics {
public:
    void waited(std::chrono::nanoseconds duration) override {
        ++count;
        longest = std::max(longest.load(), duration.count());
    }

    std::atomic<int> count = 0;
    std::atomic<std::int64_t> longest = 0;
};

ConnectionPool::Clock::time_point in(milliseconds time) { return ConnectionPool::Clock::now() + time; }

class PostgresPool : public test::PostgresTest {
protected:
    [[nodiscard]] PoolSettings bounds(std::size_t min, std::size_t max) const {
        PoolSettings settings;
        settings.connect = test::test_settings(dsn());
        settings.connect.connect_timeout = seconds{2};
        settings.min = min;
        settings.max = max;
        return settings;
    }

    // Waits, for at most twenty seconds, until it is so.
    template <class Condition>
    static bool soon(const Condition& condition) {
        const auto deadline = in(seconds{20});
        while (!condition()) {
            if (ConnectionPool::Clock::now() > deadline) {
                return false;
            }
            std::this_thread::yield();
        }
        return true;
    }

    RecordingLog log_;
    CountingWaits waits_;
};

TEST_F(PostgresPool, KeepsItsMinimumAndOpensMoreOnlyWhenWanted) {
    ConnectionPool pool{bounds(2, 3), log_, waits_};

    EXPECT_TRUE(soon([&] { return pool.figures().idle == 2; }));
    auto first = pool.take(in(seconds{20}));
    auto second = pool.take(in(seconds{20}));
    auto third = pool.take(in(seconds{20}));

    ASSERT_TRUE(first && second && third);
    EXPECT_EQ(pool.figures().in_use, 3U);
    EXPECT_EQ(ask(**third, "select 1"), "1");
    EXPECT_TRUE(pool.ready());
    EXPECT_EQ(waits_.count, 3);
}

TEST_F(PostgresPool, NeverOpensMoreThanItsMaximum) {
    ConnectionPool pool{bounds(0, 2), log_, waits_};
    const auto first = pool.take(in(seconds{20}));
    const auto second = pool.take(in(seconds{20}));

    const auto third = pool.take(in(milliseconds{50}));

    ASSERT_TRUE(first && second);
    ASSERT_FALSE(third);
    EXPECT_EQ(third.error().sqlstate, "53300");
    EXPECT_TRUE(third.error().retryable());
    EXPECT_FALSE(third.error().connection_lost);
    EXPECT_EQ(log_.count_starting("WARN"), 0U);
    EXPECT_EQ(ask(*connect(),
                  "select count(*) from pg_stat_activity where application_name = 'sluice' and "
                  "datname = current_database() and pid <> pg_backend_pid()"),
              "2");
}

TEST_F(PostgresPool, CountsSessionsThatWereLeftOnTheServerUntilItHasEndedThem) {
    auto settings = bounds(0, 2);
    const auto lives = std::make_shared<ServerLives>(log_);
    settings.connect.lives = lives;
    ConnectionPool pool{settings, log_, waits_};
    const auto left = connect();
    const auto number = [&](const char* of) {
        return std::stoll(
            ask(*left, std::string{"select "} + of + " from pg_stat_activity where pid = pg_backend_pid()"));
    };
    {
        const auto first = pool.take(in(seconds{20}));
        ASSERT_TRUE(first);
        lives->abandon({number("pid"), number("(extract(epoch from backend_start) * 1000000)::bigint")});

        EXPECT_FALSE(pool.take(in(milliseconds{200}))) << "it would be the third session";

        ask(*connect(),
            "select pg_terminate_backend(" + ask(**first, "select pg_backend_pid()") + ", 10000)");
    }

    const auto next = pool.take(in(seconds{20}));
    const auto another = pool.take(in(seconds{20}));

    EXPECT_TRUE(next && another);
    EXPECT_FALSE(left->run_script("select 1")) << "it was ended";
    EXPECT_EQ(lives->figures().sessions_ended, 1U);
}

TEST_F(PostgresPool, HandsAConnectionToWhoeverWaits) {
    ConnectionPool pool{bounds(0, 1), log_, waits_};
    std::optional<Result<Lease, Failure>> first{pool.take(in(seconds{20}))};
    auto waiting = std::async(std::launch::async, [&] { return pool.take(in(seconds{20})).has_value(); });
    ASSERT_TRUE(soon([&] { return pool.figures().waiting == 1; }));

    first.reset();

    EXPECT_TRUE(waiting.get());
}

TEST_F(PostgresPool, WarnsOfAWaitOfMoreThanASecond) {
    ConnectionPool pool{bounds(0, 1), log_, waits_};
    const auto first = pool.take(in(seconds{20}));

    const auto second = pool.take(in(milliseconds{1100}));

    EXPECT_FALSE(second);
    EXPECT_EQ(log_.count_starting("WARN ConnectionPool - a caller waited 1"), 1U);
    EXPECT_GE(waits_.longest, std::chrono::nanoseconds{milliseconds{1100}}.count());
}

TEST_F(PostgresPool, RollsBackWhatALeaseLeftOpen) {
    ConnectionPool pool{bounds(0, 1), log_, waits_};
    ask(*connect(), "create table thing (id int8)");
    constexpr Statement kInsert{"insert", "insert into thing values (1)"};
    {
        auto lease = pool.take(in(seconds{20}));
        ASSERT_TRUE(lease);
        ask(**lease, "begin; insert into thing values (1)");
        (*lease)->queue(kInsert);
    }

    auto lease = pool.take(in(seconds{20}));

    ASSERT_TRUE(lease);
    EXPECT_FALSE((*lease)->in_transaction());
    EXPECT_EQ(ask(**lease, "select count(*) from thing"), "0");
}

TEST_F(PostgresPool, ClosesWhatNobodyWantsAnyMore) {
    auto settings = bounds(1, 3);
    settings.idle_max = milliseconds{20};
    ConnectionPool pool{settings, log_, waits_};
    {
        const auto first = pool.take(in(seconds{20}));
        const auto second = pool.take(in(seconds{20}));
        const auto third = pool.take(in(seconds{20}));
        ASSERT_TRUE(first && second && third);
    }

    EXPECT_TRUE(soon([&] { return pool.figures().idle == 1; }));
}

// The CPU time of all threads of this process.
std::chrono::nanoseconds cpu_time() {
    timespec used{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return seconds{used.tv_sec} + std::chrono::nanoseconds{used.tv_nsec};
}

TEST_F(PostgresPool, RestsWhenWhatIsIdleForLongIsTheMinimum) {
    auto settings = bounds(2, 3);
    settings.idle_max = milliseconds{1};
    ConnectionPool pool{settings, log_, waits_};
    ASSERT_TRUE(soon([&] { return pool.figures().idle == 2; }));

    const auto before = cpu_time();
    std::this_thread::sleep_for(seconds{1});  // What is measured: a second in which nobody asks.

    // A thread that does not rest takes all it can get, which is more than this on any machine.
    EXPECT_LT(cpu_time() - before, milliseconds{100});
    EXPECT_TRUE(soon([&] { return pool.figures().idle == 2; }));
}

TEST_F(PostgresPool, SortsOutConnectionsThatTheServerClosed) {
    ConnectionPool pool{bounds(2, 2), log_, waits_};
    ASSERT_TRUE(soon([&] { return pool.figures().idle == 2; }));
    ask(*connect(),
        "select pg_terminate_backend(pid, 20000) from pg_stat_activity where "
        "datname = current_database() and pid <> pg_backend_pid()");

    auto lease = pool.take(in(seconds{20}));

    ASSERT_TRUE(lease) << lease.error().message;
    EXPECT_EQ(ask(**lease, "select 1"), "1");
}

TEST_F(PostgresPool, FailsFastWhileTheServerIsAwayAndRecoversByItself) {
    TcpProxy proxy{test::port_of(dsn())};
    proxy.down();
    auto settings = bounds(0, 4);
    settings.connect.dsn = test::with_port(dsn(), proxy.port());
    ConnectionPool pool{settings, log_, waits_};
    ASSERT_FALSE(pool.take(in(seconds{20})));  // The first finds out.

    const auto start = ConnectionPool::Clock::now();
    for (int i = 0; i < 1000; ++i) {
        const auto lease = pool.take(in(seconds{20}));

        ASSERT_FALSE(lease);
        ASSERT_TRUE(lease.error().connection_lost);
        ASSERT_FALSE(lease.error().outcome_unknown);
    }
    EXPECT_LT(ConnectionPool::Clock::now() - start, seconds{5});
    EXPECT_FALSE(pool.ready());
    EXPECT_TRUE(
        soon([&] { return log_.count_starting("WARN ConnectionPool - PostgreSQL cannot be reached") == 1; }));

    proxy.up();
    EXPECT_TRUE(soon([&] { return pool.take(in(seconds{20})).has_value(); }));
    EXPECT_TRUE(pool.ready());
    EXPECT_TRUE(soon([&] { return log_.has("INFO ConnectionPool - PostgreSQL can be reached again"); }));
    EXPECT_EQ(log_.count_starting("WARN"), 1U);
}

TEST_F(PostgresPool, NoticesASilentServerWithoutBeingAsked) {
    TcpProxy proxy{test::port_of(dsn())};
    auto settings = bounds(3, 3);
    settings.connect.dsn = test::with_port(dsn(), proxy.port());
    settings.connect.statement_timeout = seconds{3};
    settings.connect.silence_margin = milliseconds{500};
    ConnectionPool pool{settings, log_, waits_};
    ASSERT_TRUE(soon([&] { return pool.figures().idle == 3; }));
    EXPECT_TRUE(pool.ready());

    proxy.freeze();
    EXPECT_TRUE(soon([&] { return !pool.ready(); }));
    EXPECT_TRUE(soon([&] { return pool.figures().idle == 0; })) << "all of them are suspect";
    EXPECT_TRUE(soon([&] { return !pool.take(in(seconds{20})).has_value(); }));

    proxy.thaw();
    EXPECT_TRUE(soon([&] { return pool.ready(); }));
}

TEST_F(PostgresPool, TakesALeaseThatAskedNothingForNoSignOfLife) {
    TcpProxy proxy{test::port_of(dsn())};
    auto settings = bounds(1, 1);
    settings.connect.dsn = test::with_port(dsn(), proxy.port());
    settings.connect.statement_timeout = seconds{3};
    settings.connect.silence_margin = milliseconds{500};
    ConnectionPool pool{settings, log_, waits_};
    ASSERT_TRUE(soon([&] { return pool.figures().idle == 1; }));

    proxy.freeze();

    EXPECT_TRUE(soon([&] {
        (void)pool.take(in(milliseconds{10})).has_value();  // And back it goes.
        return !pool.ready();
    }));
}

TEST_F(PostgresPool, RecoversFromACrashOfTheServer) {
    test::OwnServer server;
    auto settings = bounds(2, 4);
    settings.connect.dsn = server.dsn();
    ConnectionPool pool{settings, log_, waits_};
    ASSERT_TRUE(soon([&] { return pool.figures().idle == 2; }));

    server.kill();
    EXPECT_TRUE(soon([&] { return !pool.take(in(seconds{1})).has_value(); }));
    server.revive();
    EXPECT_TRUE(soon([&] {
        auto lease = pool.take(in(seconds{1}));
        return lease.has_value() && (*lease)->run_script("select 1").has_value();
    }));
}

TEST_F(PostgresPool, ServesManyThreads) {
    ConnectionPool pool{bounds(1, 3), log_, waits_};
    std::atomic<int> served = 0;
    {
        std::vector<std::jthread> threads;
        for (int thread = 0; thread < 8; ++thread) {
            threads.emplace_back([&] {
                for (int i = 0; i < 50; ++i) {
                    auto lease = pool.take(in(seconds{20}));
                    served += lease && (*lease)->run_script("select 1") ? 1 : 0;
                }
            });
        }
    }

    EXPECT_EQ(served, 400);
    EXPECT_LE(pool.figures().idle, 3U);
    EXPECT_EQ(pool.figures().in_use, 0U);
}

}  // namespace
}  // namespace sluice::postgres
