#include "core/limits/sliding_window_estimate.hpp"

#include "core/limits/fixed_window.hpp"

namespace sluice {

Result<SlidingWindowEstimate, PlanError> SlidingWindowEstimate::make(Tokens limit, Wait window) {
    if (limit < 1) {
        return Unexpected{PlanError{"capacity must be positive"}};
    }
    if (window < Wait{1} || window > kWindowSizeMax) {
        return Unexpected{PlanError{"a window must be longer than nothing and at most 366 days"}};
    }
    if (limit > (kExactMax - 1) / window.count()) {  // The product may not fit.
        return Unexpected{PlanError{"capacity times window is too large to count exactly"}};
    }
    return SlidingWindowEstimate{limit, window};
}

// The two counters as they are at `now`. Counters of a plan that allowed more are cut to what this one
// allows, so that no product can leave its bounds. Those of a plan with other windows began in between: they
// count as the window before.
SlidingWindowEstimate::State SlidingWindowEstimate::rolled(const State& state, Moment now) const {
    const std::int64_t start = microseconds_of(now) / window_ * window_;
    const Tokens current = std::clamp<Tokens>(state.current, 0, limit_);
    if (start <= state.start) {
        return {state.start, current, std::clamp<Tokens>(state.previous, 0, limit_)};
    }
    return {start, 0, start - state.start <= window_ ? current : 0};
}

// How many tokens fit: the largest c with previous * (window - elapsed) <= (limit - current - c) * window.
// Both sides are below kExactMax, because neither counter exceeds the limit.
Tokens SlidingWindowEstimate::room(const State& current, std::int64_t elapsed) const {
    const std::int64_t covered = current.previous * (window_ - elapsed);
    return std::max<Tokens>(0, limit_ - current.current - divide_up(covered, window_));
}

// How far into a window `previous` counts for at most `spare` tokens. REQUIRES: spare >= 0.
std::int64_t SlidingWindowEstimate::fits_from(Tokens previous, Tokens spare) const {
    return previous <= spare ? 0 : window_ - spare * window_ / previous;
}

// The first moment, in this window or the two that follow, at which `cost` fits. Without further charges the
// estimate only falls, also where windows meet, so there is one such moment.
Moment SlidingWindowEstimate::passes_at(const State& current, Tokens cost) const {
    const Tokens spare = limit_ - current.current - cost;
    if (spare >= 0) {
        const std::int64_t here = fits_from(current.previous, spare);
        if (here < window_) {
            return moment_of(current.start + here);
        }
    }
    return moment_of(current.start + window_ + fits_from(current.current, limit_ - cost));
}

Standing SlidingWindowEstimate::look(const State& state, const Ask& ask) const {
    State current = rolled(state, ask.now);
    const std::int64_t into = elapsed(current, ask.now);
    const Tokens left = room(current, into);
    if (ask.weight() > left) {
        return {false, limit_, left, passes_at(current, ask.weight()) - ask.now, idle_at(current) - ask.now};
    }
    current.current += ask.cost;
    const bool untouched = current.current == 0 && current.previous == 0;
    return {true, limit_, left - ask.cost, Wait{0}, untouched ? Wait{0} : idle_at(current) - ask.now};
}

void SlidingWindowEstimate::charge(State& state, const Ask& ask) const {
    state = rolled(state, ask.now);
    state.current += ask.cost;
}

void SlidingWindowEstimate::refund(State& state, const Ask& ask) const {
    state = rolled(state, ask.now);
    state.current = std::max<Tokens>(0, state.current - ask.cost);
}

Moment SlidingWindowEstimate::idle_at(const State& state) const {
    return moment_of(state.start + (state.current > 0 ? 2 : 1) * window_);
}

}  // namespace sluice
