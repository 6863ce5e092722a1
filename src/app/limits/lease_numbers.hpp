#pragma once

#include <atomic>
#include <random>

#include "core/limits/limit_terms.hpp"

namespace sluice {

// Numbers for leases that nobody else gives: not this process after a restart, no other node, no other
// store. A release that comes late, or to the wrong store, then names a lease that nobody holds.
// Random, of 52 bits: a script whose only numbers are doubles can follow.
// Thread safety: all of it.
class LeaseNumbers {
public:
    LeaseNumbers() {
        std::random_device device;
        last_ = std::uint64_t{device()} << 32U | device();
    }

    LeaseId next() {
        // Relaxed: a number that guards nothing. Mixed as by SplitMix64: one step of the counter changes half
        // of the bits.
        constexpr std::uint64_t kStep = 0x9E3779B97F4A7C15U;
        std::uint64_t bits = last_.fetch_add(kStep, std::memory_order_relaxed) + kStep;
        bits = (bits ^ bits >> 30U) * 0xBF58476D1CE4E5B9U;
        bits = (bits ^ bits >> 27U) * 0x94D049BB133111EBU;
        bits ^= bits >> 31U;
        return LeaseId{bits >> 12U | 1U};  // 0 stands for none.
    }

private:
    std::atomic<std::uint64_t> last_;
};

}  // namespace sluice
