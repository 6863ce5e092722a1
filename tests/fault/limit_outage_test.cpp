// What customers and operators see while a server of limits is frozen, killed, or has one bad key.
#include <atomic>
#include <chrono>
#include <iostream>
#include <thread>

#include <gmock/gmock.h>

#include "support/limit_node.hpp"
#include "support/postgres_fixture.hpp"

namespace sluice::test {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using SteadyClock = std::chrono::steady_clock;

// Customers who ask for keys, one after the other, and what they were told.
class Customers {
public:
    Customers(const LimitNode& node, std::vector<std::string> keys, std::string plan = "gold", int count = 2)
        : node_{node}, keys_{std::move(keys)}, plan_{std::move(plan)} {
        for (int i = 0; i < count; ++i) {
            threads_.emplace_back([this](const std::stop_token& stop) { ask(stop); });
        }
    }

    [[nodiscard]] int allowed() const { return allowed_; }
    [[nodiscard]] int denied() const { return denied_; }
    void await_more(int answers) const {
        const int before = allowed_ + denied_;
        await([&] { return allowed_ + denied_ >= before + answers; });
    }

private:
    void ask(const std::stop_token& stop) {
        for (std::size_t i = 0; !stop.stop_requested(); ++i) {
            const std::string reason = node_.check(keys_[i % keys_.size()], plan_);
            ++(reason == "DENIED" ? denied_ : allowed_);
        }
    }

    const LimitNode& node_;
    const std::vector<std::string> keys_;
    const std::string plan_;
    std::atomic<int> allowed_ = 0;
    std::atomic<int> denied_ = 0;
    std::vector<std::jthread> threads_;
};

class LimitOutage : public PostgresTest {};

TEST_F(LimitOutage, OfOneKeyIsItsOwn) {
    SLUICE_NEEDS_REDIS("SLUICE_TEST_REDIS");
    const OwnRedis redis{"redis"};
    RawRedis raw{redis.address()};
    const LimitNode node{{"--store", "memory", "--redis", redis.address()}, "5s"};
    node.use_up("good");
    raw.ask({"HSET", "rate_limiter:gold:{other-version}", "t", "x", "ts", "x", "v", "999"});
    raw.ask({"HSET", "rate_limiter:gold:{cut}", "t", "x", "ts", "x", "v", "1"});
    raw.ask({"SET", "rate_limiter:gold:{no-hash}", "x"});

    for (int i = 0; i < 20; ++i) {
        for (const char* const bad : {"other-version", "cut", "no-hash"}) {
            EXPECT_EQ(node.check(bad), "FAIL_OPEN") << bad;
            EXPECT_EQ(node.check(bad), "FAIL_OPEN") << bad;
        }
        EXPECT_EQ(node.check("good"), "DENIED");
    }

    EXPECT_TRUE(node.never_opened());
}

// Frozen, then killed: the second master has no replica, and the others go on without its slots.
TEST_F(LimitOutage, OfOneMasterOfAClusterLeavesTheKeysOfTheOthersExact) {
    SLUICE_NEEDS_REDIS("SLUICE_TEST_REDIS_CLUSTER");
    const OwnRedis cluster{"redis-cluster"};
    const auto nodes = redis::parse_redis_address(cluster.address())->nodes;
    for (const auto& each : nodes) {
        RawRedis{each}.ask({"CONFIG", "SET", "cluster-require-full-coverage", "no"});
    }
    const auto keys = key_of_each_master();
    const LimitNode node{{"--store", "memory", "--redis", cluster.address()}, "700ms"};
    for (const std::string& key : keys) {
        node.use_up(key);
    }
    const pid_t master = RawRedis{nodes[1]}.process();

    Customers others{node, {keys[0], keys[2]}};
    const Customers of_the_dead{node, {keys[1]}, "gold", 4};
    {
        const Standstill still{master};
        await([&] { return of_the_dead.allowed() > 0; });
        others.await_more(50);
        await([&] { return node.is_degraded(); });
        others.await_more(50);
        EXPECT_TRUE(node.shows("sluice_limit_servers_down 1"));
    }
    await([&] { return node.is_ready(); });
    ::kill(master, SIGKILL);
    await([&] { return node.is_degraded(); });
    others.await_more(50);

    EXPECT_EQ(others.allowed(), 0) << "of " << others.denied();
    // The line of the start names all of them.
    EXPECT_THAT(node.log(), HasSubstr("LimitService - Redis at " + nodes[1].text()));
    EXPECT_THAT(node.log(), testing::Not(HasSubstr("LimitService - Redis at " + nodes[0].text())));
}

// A stall of less than two deadlines, as 80 ms are where the deadline is 50 ms.
TEST_F(LimitOutage, IsNoneWhileAStallIsShorterThanThreeDeadlines) {
    SLUICE_NEEDS_REDIS("SLUICE_TEST_REDIS");
    const OwnRedis redis{"redis"};
    const pid_t server = RawRedis{redis.address()}.process();
    const LimitNode node{{"--store", "memory", "--redis", redis.address()}, "500ms"};
    node.use_up("k");

    Customers customers{node, {"k"}, "gold", 8};
    for (int i = 0; i < 2; ++i) {
        customers.await_more(50);
        {
            const Standstill still{server};
            std::this_thread::sleep_for(800ms);  // The stall itself.
        }
    }
    customers.await_more(50);

    EXPECT_GT(customers.allowed(), 0) << "those that were late, as their plan says";
    EXPECT_TRUE(node.never_opened());
    const int late = customers.allowed();
    customers.await_more(50);
    EXPECT_EQ(customers.allowed(), late);
}

// How long it takes until operators hear of a server that stands still, and, with no customer asking, that it
// goes on.
struct Told {
    SteadyClock::duration down = SteadyClock::duration::max();
    SteadyClock::duration up = SteadyClock::duration::max();
};

// The shorter of a few rounds: this machine stands still at times, too.
Told best_of_rounds(const LimitNode& node, pid_t server) {
    Told best;
    for (int round = 0; round < 3; ++round) {
        SteadyClock::time_point began;
        {
            const Standstill still{server};
            const Customers customers{node, {"k"}, "huge"};
            began = SteadyClock::now();
            await([&] { return node.is_degraded() && node.shows("sluice_limit_servers_down 1"); });
            best.down = std::min(best.down, SteadyClock::now() - began);
        }
        began = SteadyClock::now();
        await([&] { return node.is_ready() && node.shows("sluice_limit_servers_down 0"); });
        best.up = std::min(best.up, SteadyClock::now() - began);
    }
    std::cout << "told after " << best.down / 1ms << " ms, and after " << best.up / 1ms << " ms\n";
    return best;
}

TEST_F(LimitOutage, OfRedisIsToldWithinASecondAndEndsByItself) {
    SLUICE_NEEDS_REDIS("SLUICE_TEST_REDIS");
    OwnRedis redis{"redis"};
    const LimitNode node{{"--store", "memory", "--redis", redis.address()}, "50ms"};
    const std::string name = "Redis at " + redis.address().substr(std::string{"redis://"}.size());

    const Told told = best_of_rounds(node, RawRedis{redis.address()}.process());

    EXPECT_LT(told.down, 1s);
    EXPECT_LT(told.up, 1s);
    await(
        [&] { return node.log().find("answers again") != std::string::npos; });  // Lines are written behind.
    EXPECT_THAT(node.log(), HasSubstr("WARN  LimitService - " + name + " does not answer in time"));
    EXPECT_THAT(node.log(), HasSubstr("INFO  LimitService - " + name + " answers again"));
    redis.kill();
    await([&] {
        node.check("k");
        return node.is_degraded();
    });
    EXPECT_THAT(node.log(), HasSubstr(name + " cannot be reached: Connection refused"));
    redis.revive();
    await([&] { return node.is_ready(); });
}

TEST_F(LimitOutage, OfAFullRedisIsToldInItsOwnWords) {
    SLUICE_NEEDS_REDIS("SLUICE_TEST_REDIS");
    const OwnRedis redis{"redis"};
    RawRedis raw{redis.address()};
    const LimitNode node{{"--store", "memory", "--redis", redis.address()}, "5s"};

    raw.ask({"CONFIG", "SET", "maxmemory", "1"});
    await([&] {
        node.check("k");
        return node.is_degraded();
    });
    raw.ask({"CONFIG", "SET", "maxmemory", "0"});
    await([&] { return node.is_ready(); });

    EXPECT_THAT(node.log(), HasSubstr("refuses the script of limits: OOM command not allowed"));
}

TEST_F(LimitOutage, OfPostgresIsNotBroughtAboutByOneHotKey) {
    const LimitNode node{{"--store", dsn()}, "50ms"};

    const Customers customers{node, {"hot"}, "huge", 32};
    for (int i = 0; i < 10; ++i) {
        customers.await_more(100);
        EXPECT_TRUE(node.never_opened());
    }
}

TEST_F(LimitOutage, OfPostgresIsToldAndEndsByItself) {
    OwnServer postgres;
    const LimitNode node{{"--store", postgres.dsn()}, "50ms"};
    std::unique_ptr<postgres::Connection> session =
        postgres::Connection::open(test_settings(postgres.dsn())).value();
    const pid_t postmaster =
        std::stoi(ask(*session, "select split_part(pg_read_file('postmaster.pid'), chr(10), 1)"));

    {
        const Standstill still{postmaster};
        const Customers customers{node, {"k"}, "huge"};
        await([&] { return node.shows("sluice_limit_servers_down 1"); });
    }
    await([&] { return node.is_ready() && node.shows("sluice_limit_servers_down 0"); });
    await(
        [&] { return node.log().find("answers again") != std::string::npos; });  // Lines are written behind.

    EXPECT_THAT(node.log(), testing::ContainsRegex("WARN  LimitService - PostgreSQL at 127.0.0.1:[0-9]+ "));
    EXPECT_THAT(node.log(), testing::ContainsRegex("INFO  LimitService - PostgreSQL at 127.0.0.1:[0-9]+ "
                                                   "answers again"));
}

}  // namespace
}  // namespace sluice::test
