// How many checks a second the Redis store of limits gets through: one token bucket, batches as the combiner
// makes them. Budget: at least 0.85 of what redis-benchmark gets of the same script with the same pipelining.
//
//     redis_limit_bench ADDRESS PLAN THREADS BATCH CHECKS KEYS
//     redis_limit_bench --script    prints the script, for redis-benchmark to drive
//
// PLAN is `open`: 100 at once and 10 a second, which many keys do not use up; or `tight`: 1,000 of both.
#include <atomic>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "base/random.hpp"
#include "store/redis/limits/limit_script.hpp"
#include "store/redis/limits/redis_limit_store.hpp"

namespace sluice {
namespace {

struct Load {
    std::size_t threads;
    std::size_t batch;
    std::size_t checks;  // Of all threads.
    std::size_t keys;
};

std::atomic<std::uint64_t> admitted{0};
std::atomic<std::uint64_t> failed{0};

void drive(LimitStore& store, const Plan& plan, const Load& load, std::uint64_t seed) {
    const std::vector<const Plan*> plans{&plan};
    Random random{seed};
    std::vector<std::string> keys(load.batch);
    std::vector<Check> checks(load.batch);
    std::vector<CheckOutcome> outcomes(load.batch, Verdict{});
    for (std::size_t done = 0; done < load.checks / load.threads; done += load.batch) {
        for (std::size_t i = 0; i < load.batch; ++i) {
            const std::string number = std::to_string(random.below(load.keys));
            keys[i] = std::string(12 - number.size(), '0') + number;  // As redis-benchmark writes its keys.
            checks[i] = {keys[i], plans, 1};
        }
        store.take(checks, outcomes);
        for (const CheckOutcome& outcome : outcomes) {
            admitted += outcome && outcome->allowed ? 1 : 0;
            failed += outcome ? 0 : 1;
        }
    }
}

int measure(const std::string& address, const std::string& name, const Load& load) {
    RedisOptions options;
    options.address = address;
    options.timeout = std::chrono::seconds{5};
    const auto store = open_redis_limit_store(options);
    const auto rule = name == "open" ? TokenBucket::make(100, {10, std::chrono::seconds{1}})
                                     : TokenBucket::make(1'000, {1'000, std::chrono::seconds{1}});
    if (!store || !rule) {
        std::cerr << (store ? rule.error().what : store.error()) << '\n';
        return 1;
    }
    const Plan plan = Plan::make("gold", *rule).value();
    const auto start = std::chrono::steady_clock::now();
    {
        std::vector<std::jthread> threads;
        for (std::size_t i = 0; i < load.threads; ++i) {
            threads.emplace_back([&, i] { drive(**store, plan, load, i + 1); });
        }
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    std::cout << "rate " << static_cast<std::uint64_t>(static_cast<double>(load.checks) / took.count())
              << "\nadmitted " << admitted << "\nseconds " << took.count() << '\n';
    return failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace sluice

int main(int count, char** words) {
    const std::vector<std::string> arguments(words + 1, words + count);
    if (arguments.size() == 1 && arguments[0] == "--script") {
        std::cout << sluice::redis::limit_script(sluice::redis::server_time()).text();
        return 0;
    }
    if (arguments.size() != 6) {
        std::cerr << "redis_limit_bench ADDRESS PLAN THREADS BATCH CHECKS KEYS\n";
        return 2;
    }
    return sluice::measure(arguments[0], arguments[1],
                           {std::stoul(arguments[2]), std::stoul(arguments[3]), std::stoul(arguments[4]),
                            std::stoul(arguments[5])});
}
