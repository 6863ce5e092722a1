#pragma once

#include <atomic>

#include "app/limits/moment_clock.hpp"
#include "store/memory/spin_lock.hpp"

namespace sluice {

// The wall clock, counted on between its readings by the processor's time-stamp counter; see make_fast_clock,
// which alone knows whether the counter can be trusted. In a header, so that a store reads it without a call.
// Thread safety: all of it.
class CounterClock final : public MomentClock {
public:
    // Nanoseconds a tick, times 2^kSpeedBits.
    static constexpr unsigned kSpeedBits = 32;

    explicit CounterClock(std::uint64_t speed)
        : speed_{speed},
          microseconds_a_tick_{(speed << kMoreBits) / 1'000},
          anchor_ticks_{(std::uint64_t{kAnchorPeriod} << kSpeedBits) / speed} {}

    static std::uint64_t counter() {
#if defined(__x86_64__)
        return __builtin_ia32_rdtsc();
#else
        return 0;  // Nobody makes this clock.
#endif
    }

    [[nodiscard]] Moment now() const override {
        const std::uint64_t ticks = counter();
        std::uint32_t before = 0;
        std::int64_t wall = 0;
        std::uint64_t anchored = 0;
        do {
            before = version_.load(std::memory_order_acquire);
            wall = wall_.load(std::memory_order_acquire);
            anchored = ticks_.load(std::memory_order_acquire);
            // The loads above are acquiring, so this one cannot be moved in front of them.
        } while ((before & 1U) != 0 || version_.load(std::memory_order_relaxed) != before);
        // Huge where the counter went back, as on another core that is a little behind.
        const std::uint64_t passed = ticks - anchored;
        if (passed >= anchor_ticks_) [[unlikely]] {
            return read_wall();
        }
        return moment_of(
            wall + static_cast<std::int64_t>(passed * microseconds_a_tick_ >> (kSpeedBits + kMoreBits)));
    }

private:
    static constexpr unsigned kMoreBits = 8;  // So that a microsecond a tick is as exact as a nanosecond.
    static constexpr std::uint32_t kAnchorPeriod = 1'000'000;  // Nanoseconds between readings of the wall.

    [[nodiscard]] Moment read_wall() const;

    const std::uint64_t speed_;                // Nanoseconds, times 2^kSpeedBits.
    const std::uint64_t microseconds_a_tick_;  // Times 2^(kSpeedBits + kMoreBits).
    const std::uint64_t anchor_ticks_;         // Ticks in kAnchorPeriod: so far the counter is believed.
    mutable SpinLock lock_;                    // Guards writing what is below; reading it needs no lock.
    mutable std::atomic<std::uint32_t> version_{0};
    mutable std::atomic<std::int64_t> wall_{0};  // Microseconds since 1970.
    // The counter then. 0: long ago, so that the first call reads the wall clock.
    mutable std::atomic<std::uint64_t> ticks_{0};
};

}  // namespace sluice
