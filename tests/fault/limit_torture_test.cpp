// Mixed load while servers of limits are frozen and killed in turn, and what was admitted beyond the limits.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include <gtest/gtest.h>

#include "support/limit_node.hpp"
#include "support/postgres_fixture.hpp"

namespace sluice::test {
namespace {

using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;

constexpr int kCapacity = 3;
constexpr int kOpenBudget = 2'000;
constexpr auto kPause = 2ms;  // Of a customer. One who never rests keeps the processors from the servers.
const std::string kStarved = "STARVED";

// SLUICE_TORTURE_SECONDS makes it longer.
std::chrono::seconds length() {
    const char* const wanted = std::getenv("SLUICE_TORTURE_SECONDS");
    return std::chrono::seconds{wanted == nullptr ? 15 : std::stoi(wanted)};
}

// What the customers of one node were told, by plan, master and key: a key is one window, used by all
// customers at once and then left for the next.
class Account {
public:
    struct Sums {
        int keys = 0;
        int decided = 0;     // Allowed by the store.
        int over = 0;        // Of these, beyond the capacity of their key.
        int without = 0;     // Allowed without the store.
        int starved = 0;     // The same, while the server got no processor.
        int denied = 0;      // By the store, or for want of it.
        int unexpected = 0;  // Anything else.
    };

    void note(const std::string& name, const std::string& key, const std::string& reason) {
        const std::lock_guard lock{mutex_};
        Sums& sums = sums_[name];
        if (reason == "OK") {
            const int before = used_[name + key]++;
            sums.keys += before == 0 ? 1 : 0;
            sums.over += before >= kCapacity ? 1 : 0;
            ++sums.decided;
        } else {
            ++(reason == "FAIL_OPEN"                           ? sums.without
               : reason == kStarved                            ? sums.starved
               : reason == "DENIED" || reason == "FAIL_CLOSED" ? sums.denied
                                                               : sums.unexpected);
        }
    }
    std::map<std::string, Sums> sums() {
        const std::lock_guard lock{mutex_};
        return sums_;
    }

private:
    std::mutex mutex_;
    std::map<std::string, Sums> sums_;  // Guarded by mutex_, like the next.
    std::map<std::string, int> used_;
};

// A master that nobody harms. A busy machine may keep it from answering all the same: with its two processors
// in use by others, the process of a master was seen to wait 4.9 s for one, ready to run. The kernel counts
// that, so that such a check can be told from one that Sluice delays.
class Bystander {
public:
    explicit Bystander(redis::Endpoint server)
        : server_{std::move(server)}, process_{RawRedis{server_}.process()} {}

    // As the node says; kStarved for FAIL_OPEN if the master waited for a processor most of the time since
    // the first check that it did not answer.
    std::string check(const LimitNode& node, const std::string& key, const std::string& plan) {
        const Reading before = read();
        std::string reason = node.check(key, plan);
        const auto end = SteadyClock::now();
        if (!reason.starts_with("FAIL")) {
            const std::lock_guard lock{mutex_};
            silent_since_.reset();
            return reason;
        }
        const Reading since = silent_since(before);
        RawRedis{server_}.ask({"PING"});  // It had a processor by now: its waiting is counted.
        const Reading after = read();
        const auto waited = after.waited - since.waited - (after.at - end);
        return reason == "FAIL_OPEN" && waited >= (end - since.at) / 2 ? kStarved : reason;
    }

private:
    struct Reading {
        SteadyClock::time_point at;
        std::chrono::nanoseconds waited;  // For a processor, since the process began. 0 if nobody counts it.
    };

    [[nodiscard]] Reading read() const {
        std::ifstream file{"/proc/" + std::to_string(process_) + "/schedstat"};
        std::int64_t ran = 0;
        std::int64_t waited = 0;
        file >> ran >> waited;
        return {SteadyClock::now(), std::chrono::nanoseconds{waited}};
    }

    Reading silent_since(const Reading& now) {
        const std::lock_guard lock{mutex_};
        silent_since_ = silent_since_.value_or(now);
        return *silent_since_;
    }

    const redis::Endpoint server_;
    const pid_t process_;
    std::mutex mutex_;
    std::optional<Reading> silent_since_;  // Guarded by mutex_.
};

// Masters by their number: one that is not there is harmed.
using Bystanders = std::map<std::size_t, Bystander>;

// A customer asks for a key of every kind by turns; a new set of keys every quarter of a second.
void shop(const LimitNode& node, const std::string& name, Bystanders* cluster, Account& account,
          const std::stop_token& stop) {
    std::vector<std::string> keys;
    auto next = SteadyClock::now();
    for (int round = 0; !stop.stop_requested();) {
        if (SteadyClock::now() >= next) {
            const std::string prefix = "t" + std::to_string(round++) + "-";
            keys = cluster != nullptr ? key_of_each_master(prefix) : std::vector<std::string>{prefix};
            next = SteadyClock::now() + 250ms;
        }
        for (std::size_t i = 0; i < keys.size(); ++i) {
            const std::string master = cluster != nullptr ? " master " + std::to_string(i) : "";
            const bool harmed = cluster == nullptr || !cluster->contains(i);
            for (const auto& [plan, policy] : {std::pair{"gold", " open"}, std::pair{"safe", " closed"}}) {
                account.note(name + master + policy, keys[i],
                             harmed ? node.check(keys[i], plan) : cluster->at(i).check(node, keys[i], plan));
            }
        }
        std::this_thread::sleep_for(kPause);
    }
}

class LimitTorture : public PostgresTest {};

TEST_F(LimitTorture, AdmitsNothingBeyondTheLimitsWhileServersAreFrozenAndKilled) {
    SLUICE_NEEDS_REDIS("SLUICE_TEST_REDIS");
    OwnRedis redis{"redis"};
    OwnRedis cluster{"redis-cluster"};
    OwnServer postgres;
    const auto masters = redis::parse_redis_address(cluster.address())->nodes;
    RawRedis first{masters[0]};
    std::vector<redis::Endpoint> nodes = masters;
    nodes.push_back(replica_of(first));
    for (const auto& each : nodes) {
        RawRedis one{each};
        one.ask({"CONFIG", "SET", "cluster-require-full-coverage", "no"});
        // Otherwise masters that get no processor for two seconds give each other up.
        one.ask({"CONFIG", "SET", "cluster-node-timeout", "60000"});
    }
    const Variables budget{{"SLUICE_LIMITS_FAIL_OPEN_TOKENS", std::to_string(kOpenBudget)}};
    const LimitNode on_redis{{"--store", "memory", "--redis", redis.address()}, "500ms", budget};
    const LimitNode on_cluster{{"--store", "memory", "--redis", cluster.address()}, "500ms", budget};
    const LimitNode on_postgres{{"--store", postgres.dsn()}, "500ms", budget};
    const auto process_of = [](auto&& session) {
        return static_cast<pid_t>(
            std::stoi(ask(*session, "select split_part(pg_read_file('postmaster.pid'), chr(10), 1)")));
    };
    Bystanders bystanders;
    bystanders.try_emplace(0, masters[0]);
    bystanders.try_emplace(2, masters[2]);
    Account account;
    {
        std::vector<std::jthread> customers;
        for (int i = 0; i < 2; ++i) {
            customers.emplace_back(
                [&](const std::stop_token& stop) { shop(on_redis, "redis", nullptr, account, stop); });
            customers.emplace_back([&](const std::stop_token& stop) {
                shop(on_cluster, "cluster", &bystanders, account, stop);
            });
            customers.emplace_back(
                [&](const std::stop_token& stop) { shop(on_postgres, "postgres", nullptr, account, stop); });
        }
        const auto freeze = [](pid_t server, const LimitNode& node) {
            {
                const Standstill still{server};
                await([&] { return node.shows("sluice_limit_servers_down 1"); });
            }
            await([&] { return node.shows("sluice_limit_servers_down 0"); });
        };
        const auto end = SteadyClock::now() + length();
        do {
            freeze(RawRedis{redis.address()}.process(), on_redis);
            freeze(RawRedis{masters[1]}.process(), on_cluster);
            freeze(process_of(postgres::Connection::open(test_settings(postgres.dsn())).value()),
                   on_postgres);
            redis.kill();
            await([&] { return on_redis.shows("sluice_limit_servers_down 1"); });
            redis.revive();
            postgres.kill();
            await([&] { return on_postgres.shows("sluice_limit_servers_down 1"); });
            postgres.revive();
            await([&] {
                return on_redis.shows("sluice_limit_servers_down 0") &&
                       on_postgres.shows("sluice_limit_servers_down 0");
            });
        } while (SteadyClock::now() < end);
        ::kill(RawRedis{masters[1]}.process(), SIGKILL);
        await([&] { return on_cluster.shows("sluice_limit_servers_down 1"); });
    }

    for (const auto& [name, sums] : account.sums()) {
        std::cout << name << ": " << sums.keys << " keys, " << sums.decided << " allowed by the store, "
                  << sums.over << " of them beyond the limit, " << sums.without << " allowed without it, "
                  << sums.starved << " while it got no processor, " << sums.denied << " denied\n";
        EXPECT_GT(sums.decided, 0) << name;
        EXPECT_EQ(sums.over, 0) << name;
        EXPECT_EQ(sums.unexpected, 0) << name;
        if (name.find("closed") != std::string::npos || name.find("master 0") != std::string::npos ||
            name.find("master 2") != std::string::npos) {
            EXPECT_EQ(sums.without, 0) << name;
        }
        // An outage ends after ten quiet seconds, and with it its budget.
        EXPECT_LE(sums.without + sums.starved, kOpenBudget * (1 + length() / 10s)) << name;
    }
}

}  // namespace
}  // namespace sluice::test
