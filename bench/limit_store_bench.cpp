// How many checks a second does the memory store decide, beside limiters of other languages that do the same
// work? Budget: at least 1.5 times the better of throttlecrab and governor on one thread, and 1.7 times its
// own rate on two threads.
//
//   limit_store_bench keys KIND COUNT FILE   draws COUNT key numbers, 32 bits each: `hot`, `zipf` or
//   `uniform` limit_store_bench run PLAN FILE THREADS  checks them all, each thread its share, and prints the
//   figures
//
// quiet_rate is that of the fastest quarter of slices of some milliseconds: what the others lose is taken by
// whoever shares the processor's core, and from limiters that do more at a time it takes more.
//
// PLAN is `open`, which never denies, or `tight`: 1,000 a second for each key, with as many at once.
// bench/peers /limits reads the same files and has the same plans. The clock is read for every check.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "base/random.hpp"
#include "store/memory/fast_clock.hpp"
#include "store/memory/memory_limit_store.hpp"

namespace sluice::bench {
namespace {

constexpr std::size_t kKeys = 1'000'000;
constexpr double kSkew = 0.99;  // As in YCSB.
constexpr std::size_t kSlice = 200'000;

[[noreturn]] void give_up(const std::string& why) {
    std::fprintf(stderr, "limit_store_bench: %s\n", why.c_str());
    std::exit(1);
}

// --- The keys, the same for everyone ---------------------------------------------------------------------

// Draws ranks by how often they come, and scatters them over the numbers.
class Zipf {
public:
    Zipf() {
        double sum = 0;
        for (std::size_t rank = 1; rank <= kKeys; ++rank) {
            sum += 1 / std::pow(static_cast<double>(rank), kSkew);
            sums_.push_back(sum);
        }
    }
    std::uint32_t draw(Random& random) {
        const double at = static_cast<double>(random.next() >> 11U) * 0x1p-53 * sums_.back();
        const auto rank =
            static_cast<std::uint64_t>(std::lower_bound(sums_.begin(), sums_.end(), at) - sums_.begin());
        return static_cast<std::uint32_t>(rank * 7'919 % kKeys);
    }

private:
    std::vector<double> sums_;
};

void draw_keys(const std::string& kind, std::size_t count, const char* path) {
    Random random{1};
    Zipf zipf;
    std::vector<std::uint32_t> numbers(count);
    for (std::uint32_t& number : numbers) {
        number = kind == "hot"    ? 42
                 : kind == "zipf" ? zipf.draw(random)
                                  : static_cast<std::uint32_t>(random.below(kKeys));
    }
    std::ofstream{path, std::ios::binary}.write(reinterpret_cast<const char*>(numbers.data()),
                                                static_cast<std::streamsize>(count * sizeof(numbers[0])));
}

std::vector<std::uint32_t> read_keys(const char* path) {
    std::ifstream file{path, std::ios::binary | std::ios::ate};
    std::vector<std::uint32_t> numbers(static_cast<std::size_t>(file.tellg()) / sizeof(std::uint32_t));
    file.seekg(0);
    if (!file.read(reinterpret_cast<char*>(numbers.data()),
                   static_cast<std::streamsize>(numbers.size() * sizeof(numbers[0])))) {
        give_up("no keys in " + std::string{path});
    }
    return numbers;
}

std::string key_of(std::uint32_t number) {
    char text[32];
    std::snprintf(text, sizeof(text), "user:%015u", number);
    return text;
}

// --- The work --------------------------------------------------------------------------------------------

struct World {
    std::unique_ptr<MomentClock> clock = make_fast_clock();
    std::unique_ptr<MemoryLimitStore> store = make_memory_limit_store({.keys_max = kKeys, .seed = 7}, *clock);
    Plan plan;
};

Plan plan_named(const std::string& name) {
    const Tokens tokens = name == "open" ? 1'000'000'000 : 1'000;
    auto bucket = TokenBucket::make(tokens, {tokens, std::chrono::seconds{1}});
    return Plan::make("gold", *bucket).value();
}

// Every key is known before anything is timed.
void know_all(World& world) {
    const Plan* const plans[] = {&world.plan};
    CheckOutcome outcome = Verdict{};
    for (std::uint32_t number = 0; number < kKeys; ++number) {
        const std::string key = key_of(number);
        const Check check{key, plans};
        world.store->take({&check, 1}, {&outcome, 1});
        if (!outcome || !outcome->allowed) {
            give_up("a new key was refused");
        }
    }
}

std::size_t check_all(World& world, std::span<const std::string> keys) {
    const Plan* const plans[] = {&world.plan};
    CheckOutcome outcome = Verdict{};
    std::size_t admitted = 0;
    for (const std::string& key : keys) {
        const Check check{key, plans};
        world.store->take({&check, 1}, {&outcome, 1});
        admitted += outcome->allowed ? 1 : 0;
    }
    return admitted;
}

// What one thread has done.
struct Share {
    std::size_t admitted = 0;
    std::vector<double> slices{};  // Seconds each.
};

Share check_share(World& world, std::span<const std::string> keys) {
    Share share;
    for (; keys.size() >= kSlice; keys = keys.subspan(kSlice)) {
        const auto start = std::chrono::steady_clock::now();
        share.admitted += check_all(world, keys.first(kSlice));
        share.slices.push_back(
            std::chrono::duration<double>{std::chrono::steady_clock::now() - start}.count());
    }
    share.admitted += check_all(world, keys);
    return share;
}

double quiet_rate(std::vector<double> slices) {
    std::ranges::sort(slices);
    return slices.empty() ? 0 : static_cast<double>(kSlice) / slices[slices.size() / 4];
}

double cpu_seconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

void run(const std::string& plan, const char* path, std::size_t threads) {
    World world{.plan = plan_named(plan)};
    std::vector<std::string> keys;
    for (const std::uint32_t number : read_keys(path)) {
        keys.push_back(key_of(number));
    }
    know_all(world);
    std::vector<Share> shares(threads);
    const std::size_t share = keys.size() / threads;
    const double cpu_before = cpu_seconds();
    const auto start = std::chrono::steady_clock::now();
    {
        std::vector<std::jthread> workers;
        for (std::size_t i = 0; i < threads; ++i) {
            workers.emplace_back(
                [&, i] { shares[i] = check_share(world, std::span{keys}.subspan(i * share, share)); });
        }
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    const double cpu = cpu_seconds() - cpu_before;
    const auto count = static_cast<double>(share * threads);
    std::size_t admitted = 0;
    double quiet = 0;
    for (const Share& each : shares) {
        admitted += each.admitted;
        quiet += quiet_rate(each.slices);
    }
    std::printf("rate %.1f\nquiet_rate %.1f\ncpu_us %.4f\nadmitted %zu\nseconds %.4f\n", count / took.count(),
                quiet, cpu * 1e6 / count, admitted, took.count());
}

}  // namespace
}  // namespace sluice::bench

int main(int argc, char** argv) {
    const std::string mode = argc == 5 ? argv[1] : "";
    if (mode == "keys") {
        sluice::bench::draw_keys(argv[2], std::strtoull(argv[3], nullptr, 10), argv[4]);
    } else if (mode == "run") {
        sluice::bench::run(argv[2], argv[3], std::strtoull(argv[4], nullptr, 10));
    } else {
        std::fputs("usage: limit_store_bench keys KIND COUNT FILE | run PLAN FILE THREADS\n", stderr);
        return 2;
    }
    return 0;
}
