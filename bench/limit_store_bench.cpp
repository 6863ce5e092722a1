// How many checks a second does the memory store decide, beside limiters of other languages that do the same
// work? Budget: at least 1.5 times the better of throttlecrab and governor on one thread, and 1.7 times its
// own rate on two threads.
//
//   limit_store_bench keys KIND COUNT FILE   draws COUNT key numbers, 32 bits each: hot, zipf or uniform
//   limit_store_bench run PLAN FILE          checks them all on one thread, and prints the figures
//   limit_store_bench scale FILE THREADS     checks them on so many threads and on each of them alone, in
//                                            turns, by the plan `open`
//
// quiet_rate is that of the fastest quarter of slices of some milliseconds: what the others lose is taken by
// whoever shares the processor's core, and from limiters that do more at a time it takes more. `scaling` is
// the rate of all threads by that of one, of all slices. `machine_scaling` is the same of adding numbers in
// registers, and less than the number of threads while a host lets processors share a core.
//
// PLAN is `open`, which never denies, or `tight`: 1,000 a second for each key, with as many at once.
// bench/peers/limits reads the same files and has the same plans. The clock is read for every check.
#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <numeric>
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
constexpr int kTurns = 40;

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
    const std::streamoff bytes = file ? static_cast<std::streamoff>(file.tellg()) : 0;
    std::vector<std::uint32_t> numbers(static_cast<std::size_t>(bytes) / sizeof(std::uint32_t));
    file.seekg(0);
    if (numbers.size() < kSlice || !file.read(reinterpret_cast<char*>(numbers.data()), bytes)) {
        give_up(std::string{path} + " holds too few keys; does another run use it?");
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

// --- The figures -----------------------------------------------------------------------------------------

double seconds_of(const auto& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>{std::chrono::steady_clock::now() - start}.count();
}

double cpu_seconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// What the slowest of the fastest quarter took.
double quiet_seconds(std::vector<double> slices) {
    std::ranges::sort(slices);
    return slices[slices.size() / 4];
}

struct Work {
    World world;
    std::vector<std::string> keys;

    [[nodiscard]] std::span<const std::string> slice(std::size_t index) const {
        return std::span{keys}.subspan(index * kSlice, kSlice);
    }
};

Work prepared(const std::string& plan, const char* path) {
    Work work{.world = {.plan = plan_named(plan)}, .keys = {}};
    for (const std::uint32_t number : read_keys(path)) {
        work.keys.push_back(key_of(number));
    }
    know_all(work.world);
    return work;
}

void run(const std::string& plan, const char* path) {
    Work work = prepared(plan, path);
    std::size_t admitted = 0;
    std::vector<double> slices;
    const double cpu_before = cpu_seconds();
    const double seconds = seconds_of([&] {
        for (std::size_t i = 0; i < work.keys.size() / kSlice; ++i) {
            slices.push_back(seconds_of([&] { admitted += check_all(work.world, work.slice(i)); }));
        }
    });
    const double cpu = cpu_seconds() - cpu_before;
    const auto count = static_cast<double>(slices.size() * kSlice);
    std::printf("rate %.1f\nquiet_rate %.1f\ncpu_us %.4f\nadmitted %zu\nseconds %.4f\n", count / seconds,
                static_cast<double>(kSlice) / quiet_seconds(slices), cpu * 1e6 / count, admitted, seconds);
}

// --- Many threads by one ---------------------------------------------------------------------------------

double mean(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// What slices took: of one thread while the others waited, and of all threads at once (the slowest's).
struct Turns {
    std::size_t threads;
    std::vector<double> alone{};
    std::vector<double> together{};

    [[nodiscard]] double scaling() const {
        return static_cast<double>(threads) * mean(alone) / mean(together);
    }
};

// One slice of each thread alone, then one of all at once: what disturbs the machine for longer than that
// disturbs both.
void take_turn(Turns& turns, const auto& slice) {
    std::barrier line{static_cast<std::ptrdiff_t>(turns.threads)};
    std::vector<double> alone(turns.threads);
    std::vector<double> together(turns.threads);
    const auto take_part = [&](std::size_t mine) {
        for (std::size_t whose = 0; whose < turns.threads; ++whose) {
            line.arrive_and_wait();
            alone[mine] = whose == mine ? seconds_of(slice) : alone[mine];
        }
        line.arrive_and_wait();
        together[mine] = seconds_of(slice);
    };
    std::vector<std::jthread> workers;
    for (std::size_t i = 0; i < turns.threads; ++i) {
        workers.emplace_back(take_part, i);
    }
    workers.clear();  // They have ended.
    turns.alone.insert(turns.alone.end(), alone.begin(), alone.end());
    turns.together.push_back(std::ranges::max(together));
}

// Independent sums, as many as a core can add at a time.
void add_in_registers() {
    std::array<std::uint64_t, 8> sums{};
    for (int i = 0; i < 5'000'000; ++i) {
        for (std::uint64_t& sum : sums) {
            asm volatile("" : "+r"(sum));  // Not known in advance, and needed.
            ++sum;
        }
    }
}

void scale(const char* path, std::size_t threads) {
    Work work = prepared("open", path);
    std::atomic<std::size_t> next = 0;
    const auto check_slice = [&] {
        const std::size_t index = next.fetch_add(1, std::memory_order_relaxed) % (work.keys.size() / kSlice);
        if (check_all(work.world, work.slice(index)) != kSlice) {
            give_up("a check was denied");
        }
    };
    Turns checks{threads};
    Turns sums{threads};
    for (int turn = 0; turn < kTurns; ++turn) {
        take_turn(checks, check_slice);
        take_turn(sums, add_in_registers);
    }
    const double checks_at_once = static_cast<double>(threads * kSlice);
    std::printf("rate %.1f\nscaling %.4f\nmachine_scaling %.4f\n", checks_at_once / mean(checks.together),
                checks.scaling(), sums.scaling());
}

}  // namespace
}  // namespace sluice::bench

int main(int argc, char** argv) {
    const std::string mode = argc >= 2 ? argv[1] : "";
    if (mode == "keys" && argc == 5) {
        sluice::bench::draw_keys(argv[2], std::strtoull(argv[3], nullptr, 10), argv[4]);
    } else if (mode == "run" && argc == 4) {
        sluice::bench::run(argv[2], argv[3]);
    } else if (mode == "scale" && argc == 4) {
        sluice::bench::scale(argv[2], std::strtoull(argv[3], nullptr, 10));
    } else {
        std::fputs("usage: limit_store_bench keys KIND COUNT FILE | run PLAN FILE | scale FILE THREADS\n",
                   stderr);
        return 2;
    }
    return 0;
}
