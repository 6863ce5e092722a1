#pragma once

#include <vector>

#include "base/result.hpp"
#include "core/limits/limit_terms.hpp"

namespace sluice {

// At most `limit` tokens in any stretch of time as long as the window: exact, because every charge is
// remembered until it has left the window. Hence the limit has a maximum; larger ones are what
// SlidingWindowEstimate is for. Pure: reads no clock.
// Thread safety: immutable after make().
class SlidingWindow {
public:
    static constexpr Tokens kLimitMax = 1'024;

    struct Hit {
        std::int64_t at = 0;  // Microseconds since 1970.
        std::int64_t cost = 0;

        bool operator==(const Hit&) const = default;
    };
    // The charges that may still count, oldest first, never more than kLimitMax. None: not known. The newest
    // stays when all of it was refunded, with a cost of 0: it tells how far time had come.
    using State = std::vector<Hit>;

    // Fails unless 1 <= limit <= kLimitMax and the window is positive and at most kWindowSizeMax.
    static Result<SlidingWindow, PlanError> make(Tokens limit, Wait window);

    [[nodiscard]] Tokens limit() const { return limit_; }
    [[nodiscard]] Wait window() const { return window_; }
    // NOLINTNEXTLINE(readability-convert-member-functions-to-static): all rules answer this.
    [[nodiscard]] State fresh() const { return {}; }

    // A clock that has stepped back decides as at the last charge, so that nothing leaves the window early.
    [[nodiscard]] Standing look(const State& state, const Ask& ask) const;
    void charge(State& state, const Ask& ask) const;
    // Takes the oldest charges back that still count. Which one is meant is not known; what stays is then
    // never forgotten earlier than what was really used.
    void refund(State& state, const Ask& ask) const;
    [[nodiscard]] Moment idle_at(const State& state) const;

    bool operator==(const SlidingWindow&) const = default;

private:
    SlidingWindow(Tokens limit, Wait window) : limit_{limit}, window_{window} {}

    // How many of the oldest charges have left the window.
    [[nodiscard]] std::size_t gone(const State& state, Moment now) const;
    [[nodiscard]] Moment leaves(const Hit& hit) const { return moment_of(hit.at) + window_; }
    // When enough of the charges from `first` on have left to make room for `excess` tokens.
    [[nodiscard]] Moment room_for(const State& state, std::size_t first, Tokens excess) const;

    Tokens limit_;
    Wait window_;
};

}  // namespace sluice
