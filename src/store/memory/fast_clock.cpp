#include "store/memory/fast_clock.hpp"

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>

#include "store/memory/counter_clock.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace sluice {
namespace {

template <class Clock>
std::int64_t nanoseconds() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch()).count();
}

Moment moment_at(std::int64_t wall_nanoseconds) {
    return moment_of(std::max<std::int64_t>(0, wall_nanoseconds) / 1'000);
}

class SystemClock final : public MomentClock {
public:
    [[nodiscard]] Moment now() const override { return moment_at(nanoseconds<std::chrono::system_clock>()); }
};

// Counters run at half a gigahertz to eight.
constexpr unsigned kSpeedBits = CounterClock::kSpeedBits;
constexpr std::uint64_t kSpeedMin = (std::uint64_t{1} << kSpeedBits) / 8;
constexpr std::uint64_t kSpeedMax = (std::uint64_t{1} << kSpeedBits) * 2;

constexpr std::int64_t kStretch = 300'000;  // Nanoseconds over which the speed is measured.
constexpr std::uint64_t kBlurMax = 10'000;  // Ticks: some microseconds.

// The counter beside a clock.
struct Reading {
    std::int64_t clock;   // Nanoseconds.
    std::uint64_t ticks;  // The counter just after: what is counted from here is never ahead of the clock.
    std::uint64_t blur;   // How far apart the two may be, in ticks: much, when the thread was interrupted.
};

template <class Clock>
Reading read_both() {
    const std::uint64_t before = CounterClock::counter();
    const std::int64_t clock = nanoseconds<Clock>();
    const std::uint64_t after = CounterClock::counter();
    return {clock, after, after - before};
}

// The sharpest of some readings.
Reading read_sharply() {
    Reading best = read_both<std::chrono::steady_clock>();
    for (int i = 0; i < 8; ++i) {
        const Reading next = read_both<std::chrono::steady_clock>();
        best = next.blur < best.blur ? next : best;
    }
    return best;
}

// Nothing: the thread was interrupted too often, or the counter is none that can be right.
std::optional<std::uint64_t> measure_speed() {
    const Reading first = read_sharply();
    while (nanoseconds<std::chrono::steady_clock>() - first.clock < kStretch) {
    }
    const Reading last = read_sharply();
    const std::uint64_t ticks = last.ticks - first.ticks;
    const auto passed = static_cast<std::uint64_t>(last.clock - first.clock);
    // A stretch beyond a second is one that was interrupted, and would leave the 64 bits when shifted.
    if (std::max(first.blur, last.blur) > kBlurMax || ticks == 0 || passed > 1'000'000'000) {
        return std::nullopt;
    }
    const std::uint64_t speed = (passed << kSpeedBits) / ticks;
    return speed >= kSpeedMin && speed <= kSpeedMax ? std::optional{speed} : std::nullopt;
}

// Two stretches in a row agree to a microsecond in each millisecond, or the counter is not used.
std::optional<std::uint64_t> agreed_speed() {
    for (int attempt = 0; attempt < 5; ++attempt) {
        const auto one = measure_speed();
        const auto other = measure_speed();
        if (one && other && std::max(*one, *other) - std::min(*one, *other) <= *one / 1'000) {
            return std::min(*one, *other);
        }
    }
    return std::nullopt;
}

bool processor_counts_steadily() {
#if defined(__x86_64__)
    unsigned a = 0;
    unsigned b = 0;
    unsigned c = 0;
    unsigned d = 0;
    return __get_cpuid(0x80000007U, &a, &b, &c, &d) != 0 && (d & 1U << 8U) != 0;
#else
    return false;
#endif
}

// The kernel knows what the processor cannot: whether the counters of all cores and sockets agree.
bool kernel_trusts_the_counter() {
    std::ifstream file{"/sys/devices/system/clocksource/clocksource0/current_clocksource"};
    std::string source;
    file >> source;
    return source == "tsc" || source == "kvm-clock" || source == "hyperv_clocksource_tsc_page";
}

}  // namespace

Moment CounterClock::read_wall() const {
    const Reading reading = read_both<std::chrono::system_clock>();
    const Moment moment = moment_at(reading.clock);
    // One writer at a time; who comes second has the wall clock's answer anyway.
    if (reading.blur <= kBlurMax && reading.clock >= 0 && lock_.try_lock()) {
        // When that microsecond began: from there on whole ones are counted.
        const auto since = static_cast<std::uint64_t>(reading.clock % 1'000);
        version_.fetch_add(1, std::memory_order_acq_rel);  // Odd: being written.
        // Releasing, so that who sees one of them sees the odd version too.
        wall_.store(microseconds_of(moment), std::memory_order_release);
        ticks_.store(reading.ticks - (since << kSpeedBits) / speed_, std::memory_order_release);
        version_.fetch_add(1, std::memory_order_release);
        lock_.unlock();
    }
    return moment;
}

std::unique_ptr<MomentClock> make_system_clock() { return std::make_unique<SystemClock>(); }

std::unique_ptr<MomentClock> make_fast_clock() {
    if (processor_counts_steadily() && kernel_trusts_the_counter()) {
        if (const auto speed = agreed_speed()) {
            return std::make_unique<CounterClock>(*speed);
        }
    }
    return make_system_clock();
}

}  // namespace sluice
