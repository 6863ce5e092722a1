// How many checks a second the Redis store of limits gets through: one token bucket, many keys, batches as
// the combiner makes them. With --script it prints the script instead, for redis-benchmark to drive.
//
//     redis_limit_bench ADDRESS THREADS BATCH SECONDS KEYS
//     redis_limit_bench --script
#include <atomic>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "base/random.hpp"
#include "store/redis/redis_limit_store.hpp"
#include "store/redis/script.hpp"

namespace sluice {
namespace {

struct Load {
    std::size_t threads;
    std::size_t batch;
    std::chrono::seconds time;
    std::size_t keys;
};

std::atomic<std::uint64_t> decided{0};
std::atomic<std::uint64_t> failed{0};

void drive(LimitStore& store, const Plan& plan, const Load& load, std::uint64_t seed) {
    const std::vector<const Plan*> plans{&plan};
    Random random{seed};
    std::vector<std::string> keys(load.batch);
    std::vector<Check> checks(load.batch);
    std::vector<CheckOutcome> outcomes(load.batch, Verdict{});
    const auto end = std::chrono::steady_clock::now() + load.time;
    while (std::chrono::steady_clock::now() < end) {
        for (std::size_t i = 0; i < load.batch; ++i) {
            const std::string number = std::to_string(random.below(load.keys));
            keys[i] = std::string(12 - number.size(), '0') + number;  // As redis-benchmark writes its keys.
            checks[i] = {keys[i], plans, 1};
        }
        store.take(checks, outcomes);
        for (const CheckOutcome& outcome : outcomes) {
            ++(outcome ? decided : failed);
        }
    }
}

int measure(const std::string& address, const Load& load) {
    RedisOptions options;
    options.address = address;
    options.timeout = std::chrono::seconds{5};
    const auto store = open_redis_limit_store(options);
    const auto rule = TokenBucket::make(100, {10, std::chrono::seconds{1}});
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
    std::cout << static_cast<std::uint64_t>(static_cast<double>(decided.load()) / took.count()) << '\n';
    return failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace sluice

int main(int count, char** words) {
    const std::vector<std::string> arguments(words + 1, words + count);
    if (arguments.size() == 1 && arguments[0] == "--script") {
        std::cout << sluice::redis::Script{sluice::redis::server_time()}.text();
        return 0;
    }
    if (arguments.size() != 5) {
        std::cerr << "redis_limit_bench ADDRESS THREADS BATCH SECONDS KEYS\n";
        return 2;
    }
    return sluice::measure(arguments[0],
                           {std::stoul(arguments[1]), std::stoul(arguments[2]),
                            std::chrono::seconds{std::stol(arguments[3])}, std::stoul(arguments[4])});
}
