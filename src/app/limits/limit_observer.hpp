#pragma once

#include <chrono>

#include "app/limits/circuit_breaker.hpp"
#include "app/limits/limit_answer.hpp"

namespace sluice {

// How a call of the store failed.
enum class StoreFailure : std::uint8_t {
    Late,         // No answer before the deadline.
    Unavailable,  // It said so.
    Contended,    // Others held the key.
    Full,         // No room for the key.
    Skipped,      // Not asked: the breaker was open.
};

// What operators measure of limits.
// Thread safety: any thread; never blocks for long.
class LimitMetrics {
public:
    virtual ~LimitMetrics() = default;
    // A check that was answered and is no peek. The plan is the one that spoke.
    virtual void decided(const LimitAnswer& answer) = 0;
    virtual void store_failed(StoreFailure failure) = 0;
    // A store that is asked for many checks at once.
    virtual void store_called(std::size_t checks, std::chrono::nanoseconds duration) = 0;
    virtual void breaker_changed(BreakerState state) = 0;
};

}  // namespace sluice
