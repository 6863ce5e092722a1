#pragma once

#include <algorithm>

#include "base/result.hpp"
#include "core/limits/limit_terms.hpp"

namespace sluice {

// A sliding window of any limit, from two counters: what was used in the aligned window of now, and in the
// one before, of which the part counts that a window ending now still covers, as if it had been used evenly.
//
// The estimate is off by at most what the window before used. So what passes within any window's length is at
// most twice the limit, and at most the limit within each aligned window; evenly spread traffic is counted
// to within one token. Pure: reads no clock, allocates nothing.
// Thread safety: immutable after make().
class SlidingWindowEstimate {
public:
    // A key that is not known has used nothing.
    struct State {
        std::int64_t start = 0;  // Of the aligned window charged last, in microseconds since 1970.
        std::int64_t current = 0;
        std::int64_t previous = 0;

        bool operator==(const State&) const = default;
    };

    // Fails unless both are positive, the window at most kWindowSizeMax and limit * window below kExactMax.
    static Result<SlidingWindowEstimate, PlanError> make(Tokens limit, Wait window);

    [[nodiscard]] Tokens limit() const { return limit_; }
    [[nodiscard]] Wait window() const { return Wait{window_}; }
    // NOLINTNEXTLINE(readability-convert-member-functions-to-static): all rules answer this.
    [[nodiscard]] State fresh() const { return {}; }

    // A clock that has stepped back stays at the beginning of the window that was charged last.
    [[nodiscard]] Standing look(const State& state, const Ask& ask) const;
    void charge(State& state, const Ask& ask) const;
    // Gives back what the current window used; what an earlier one used stays.
    void refund(State& state, const Ask& ask) const;
    [[nodiscard]] Moment idle_at(const State& state) const;

    bool operator==(const SlidingWindowEstimate&) const = default;

private:
    SlidingWindowEstimate(Tokens limit, Wait window) : limit_{limit}, window_{window.count()} {}

    [[nodiscard]] State rolled(const State& state, Moment now) const;
    // Microseconds into the window.
    [[nodiscard]] std::int64_t elapsed(const State& current, Moment now) const {
        return std::max<std::int64_t>(0, microseconds_of(now) - current.start);
    }
    [[nodiscard]] Tokens room(const State& current, std::int64_t elapsed) const;
    [[nodiscard]] std::int64_t fits_from(Tokens previous, Tokens spare) const;
    [[nodiscard]] Moment passes_at(const State& current, Tokens cost) const;

    Tokens limit_;
    std::int64_t window_;  // Microseconds.
};

}  // namespace sluice
