#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>

namespace sluice {

enum class BreakerState : std::uint8_t { Closed, HalfOpen, Open };

struct BreakerOptions {
    std::size_t failures_to_open = 5;  // In a row.
    std::chrono::milliseconds open_for{1'000};
    std::size_t probes =
        3;  // Calls that a half-open breaker lets through, and that must succeed to close it.
};

// Keeps calls from a store that does not answer. Closed, it lets all through; after so many failures in a row
// it opens and lets none through for a while; then it is half-open and lets a few through, as probes: when
// all of them succeed it closes, when one fails it opens again.
// Thread safety: all of it.
class CircuitBreaker {
public:
    using SteadyTime = std::chrono::steady_clock::time_point;
    enum class Pass : std::uint8_t { Normal, Probe, Refused };

    // `changed` is called after each change of state, by the thread that caused it, with no lock held.
    CircuitBreaker(BreakerOptions options, std::function<void(BreakerState)> changed)
        : options_{options}, changed_{std::move(changed)} {}

    // True while it is closed and nothing has failed since the last success: then a call may be made, and its
    // success need not be told. Takes no lock.
    // Relaxed: whoever sees the old value for a moment makes one call too many, or takes one lock in vain.
    [[nodiscard]] bool calm() const { return calm_.load(std::memory_order_relaxed); }

    // Whether a call may be made now. One that is let through must be reported by succeeded() or failed().
    Pass admit(SteadyTime now);
    void succeeded(Pass pass);
    void failed(Pass pass, SteadyTime now);

    [[nodiscard]] BreakerState state() const;

private:
    // REQUIRES: mutex_ is held.
    BreakerState enter(BreakerState next);

    const BreakerOptions options_;
    const std::function<void(BreakerState)> changed_;
    std::atomic<bool> calm_ = true;
    mutable std::mutex mutex_;
    BreakerState state_ = BreakerState::Closed;  // Guarded by mutex_.
    std::size_t failures_ = 0;                   // Guarded by mutex_. In a row, while closed.
    std::size_t probing_ = 0;                    // Guarded by mutex_. Probes that were let through.
    std::size_t proven_ = 0;                     // Guarded by mutex_. Those of them that succeeded.
    SteadyTime reopens_{};  // Guarded by mutex_. When the open breaker becomes half-open.
};

}  // namespace sluice
