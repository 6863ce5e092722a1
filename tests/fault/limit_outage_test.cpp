// What customers and operators see while a server of limits is frozen, killed, or has one bad key.
#include <atomic>
#include <chrono>
#include <csignal>
#include <fstream>
#include <iostream>
#include <thread>

#include <gmock/gmock.h>

#include "store/redis/state_keys.hpp"
#include "support/cli_process.hpp"
#include "support/postgres_fixture.hpp"
#include "support/raw_http.hpp"
#include "support/redis_fixture.hpp"
#include "support/temp_folder.hpp"

namespace sluice::test {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using SteadyClock = std::chrono::steady_clock;

// A process that does nothing meanwhile.
class Standstill {
public:
    explicit Standstill(pid_t process) : process_{process} { ::kill(process_, SIGSTOP); }
    ~Standstill() { ::kill(process_, SIGCONT); }
    Standstill(const Standstill&) = delete;
    Standstill& operator=(const Standstill&) = delete;

private:
    const pid_t process_;
};

// A server of Sluice as its customers and operators see it. Nothing of the plan comes back during a test.
class Node {
public:
    Node(const Words& store, const std::string& deadline) {
        std::ofstream{path_} << "plans:\n"
                                "  - {name: gold, algorithm: token_bucket, capacity: 3, refill: 1/d}\n"
                                "  - {name: huge, algorithm: token_bucket, capacity: 1000000, refill: 1/h}\n";
        Words words{"--plans", path_};
        words.insert(words.end(), store.begin(), store.end());
        server_ = std::make_unique<CliServer>(
            words, Variables{{"SLUICE_LIMITS_DEADLINE", deadline}, {"SLUICE_REDIS_TIMEOUT", deadline}});
    }

    std::string check(const std::string& key, const std::string& plan = "gold") const {
        const std::string answer = call(server_->port(), "POST", "/api/v1/check",
                                        R"({"key":")" + key + R"(","plans":[")" + plan + R"("]})")
                                       .body;
        const std::string name = R"("reason":")";
        const std::size_t at = answer.find(name);
        return at == std::string::npos
                   ? answer
                   : answer.substr(at + name.size(), answer.find('"', at + name.size()) - at - name.size());
    }
    // Asks until the plan denies.
    void use_up(const std::string& key) const {
        await([&] { return check(key) == "DENIED"; });
    }

    [[nodiscard]] bool is_ready() const {
        return call(server_->port(), "GET", "/readyz").body ==
               R"({"status":"ok","slots":"ok","limits":"ok"})";
    }
    [[nodiscard]] bool is_degraded() const {
        return call(server_->port(), "GET", "/readyz").body ==
               R"({"status":"degraded","slots":"ok","limits":"store_unavailable"})";
    }
    [[nodiscard]] bool shows(const std::string& series) const {
        return call(server_->port(), "GET", "/metrics").body.find(series + "\n") != std::string::npos;
    }
    [[nodiscard]] bool never_opened() const {
        return is_ready() && shows("sluice_limit_servers_down 0") &&
               shows("sluice_limit_breaker_openings_total 0");
    }
    [[nodiscard]] std::string log() const { return server_->process().errors(); }

private:
    TempFolder folder_;
    std::string path_ = folder_ / "plans.yaml";
    std::unique_ptr<CliServer> server_;
};

// Customers who ask for keys, one after the other, and what they were told.
class Customers {
public:
    Customers(const Node& node, std::vector<std::string> keys, std::string plan = "gold", int count = 2)
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

    const Node& node_;
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
    const Node node{{"--store", "memory", "--redis", redis.address()}, "5s"};
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

// Three keys of which each lies on another master, the first one's first.
std::vector<std::string> key_of_each_master() {
    std::vector<std::string> keys(3);
    for (int i = 0; keys[0].empty() || keys[1].empty() || keys[2].empty(); ++i) {
        const std::string key = "k" + std::to_string(i);
        const std::uint16_t slot = redis::slot_of(key);
        keys[slot < 5'461 ? 0 : slot < 10'923 ? 1 : 2] = key;
    }
    return keys;
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
    const Node node{{"--store", "memory", "--redis", cluster.address()}, "700ms"};
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
    EXPECT_THAT(node.log(), HasSubstr("Redis at " + text_of(nodes[1])));
    EXPECT_THAT(node.log(), testing::Not(HasSubstr("Redis at " + text_of(nodes[0]))));
}

// A stall of less than two deadlines, as 80 ms are where the deadline is 50 ms.
TEST_F(LimitOutage, IsNoneWhileAStallIsShorterThanThreeDeadlines) {
    SLUICE_NEEDS_REDIS("SLUICE_TEST_REDIS");
    const OwnRedis redis{"redis"};
    const pid_t server = RawRedis{redis.address()}.process();
    const Node node{{"--store", "memory", "--redis", redis.address()}, "500ms"};
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
Told best_of_rounds(const Node& node, pid_t server) {
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
    const Node node{{"--store", "memory", "--redis", redis.address()}, "50ms"};
    const std::string name = "Redis at " + redis.address().substr(std::string{"redis://"}.size());

    const Told told = best_of_rounds(node, RawRedis{redis.address()}.process());

    EXPECT_LT(told.down, 1s);
    EXPECT_LT(told.up, 1s);
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
    const Node node{{"--store", "memory", "--redis", redis.address()}, "5s"};

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
    const Node node{{"--store", dsn()}, "50ms"};

    const Customers customers{node, {"hot"}, "huge", 32};
    for (int i = 0; i < 10; ++i) {
        customers.await_more(100);
        EXPECT_TRUE(node.never_opened());
    }
}

// All of PostgreSQL, which is many processes.
class PostgresStandstill {
public:
    explicit PostgresStandstill(pid_t postmaster) : processes_{postmaster} {
        std::ifstream children{"/proc/" + std::to_string(postmaster) + "/task/" + std::to_string(postmaster) +
                               "/children"};
        ::kill(postmaster, SIGSTOP);
        for (pid_t child = 0; children >> child;) {
            processes_.push_back(child);
            ::kill(child, SIGSTOP);
        }
    }
    ~PostgresStandstill() {
        for (const pid_t process : processes_) {
            ::kill(process, SIGCONT);
        }
    }
    PostgresStandstill(const PostgresStandstill&) = delete;
    PostgresStandstill& operator=(const PostgresStandstill&) = delete;

private:
    std::vector<pid_t> processes_;
};

TEST_F(LimitOutage, OfPostgresIsToldAndEndsByItself) {
    OwnServer postgres;
    const Node node{{"--store", postgres.dsn()}, "50ms"};
    std::unique_ptr<postgres::Connection> session =
        postgres::Connection::open(test_settings(postgres.dsn())).value();
    const pid_t postmaster =
        std::stoi(ask(*session, "select split_part(pg_read_file('postmaster.pid'), chr(10), 1)"));

    {
        const PostgresStandstill still{postmaster};
        const Customers customers{node, {"k"}, "huge"};
        await([&] { return node.shows("sluice_limit_servers_down 1"); });
    }
    await([&] { return node.is_ready() && node.shows("sluice_limit_servers_down 0"); });

    EXPECT_THAT(node.log(), testing::ContainsRegex("WARN  LimitService - PostgreSQL at 127.0.0.1:[0-9]+ "));
    EXPECT_THAT(node.log(), testing::ContainsRegex("INFO  LimitService - PostgreSQL at 127.0.0.1:[0-9]+ "
                                                   "answers again"));
}

}  // namespace
}  // namespace sluice::test
