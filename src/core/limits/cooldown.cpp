#include "core/limits/cooldown.hpp"

#include <algorithm>

#include "core/limits/fixed_window.hpp"

namespace sluice {
namespace {

constexpr Wait kHour = std::chrono::hours{1};

// Time as the key has seen it. The governor would take an event that lies ahead of the clock to have happened
// now, and must then store that; a denied check stores nothing.
Ticks reached(const GovernorState& state, Moment now) {
    return std::max(microseconds_of(now), state.last_change);
}

}  // namespace

Result<Cooldown, PlanError> Cooldown::make(Wait pause, Tokens max_per_hour) {
    if (pause < Wait{0} || pause > kWindowSizeMax) {
        return Unexpected{PlanError{"a cooldown must be at most 366 days"}};
    }
    if (max_per_hour < 1 || max_per_hour >= kExactMax) {
        return Unexpected{PlanError{"max_per_hour must be positive and below 2^52"}};
    }
    return Cooldown{GovernorPolicy{pause.count(), max_per_hour, kHour.count()}};
}

// The first moment at which the ask passes: behind a pause a full hour may wait, and behind that nothing.
Ticks Cooldown::passes_at(const State& state, const Ask& ask) const {
    GovernorPolicy policy = policy_;
    policy.changes_max -= ask.weight() - 1;  // So many events fit exactly when one fits under this cap.
    Ticks at = reached(state, ask.now);
    at += sluice::look(state, policy, at).remaining;
    return at + sluice::look(state, policy, at).remaining;
}

Standing Cooldown::look(const State& state, const Ask& ask) const {
    State current = settle(state, policy_, reached(state, ask.now));
    const Tokens left = std::max<Tokens>(0, limit() - current.changes);
    const Ticks passes = passes_at(state, ask);
    if (passes > reached(state, ask.now)) {
        return {false, limit(), left, moment_of(passes) - ask.now, idle_at(current) - ask.now};
    }
    if (!ask.is_peek()) {
        charge(current, ask);
    }
    return {true, limit(), left - ask.cost, Wait{0}, std::max(Wait{0}, idle_at(current) - ask.now)};
}

void Cooldown::charge(State& state, const Ask& ask) const {
    state = record(state, policy_, reached(state, ask.now));
    state.changes += ask.cost - 1;
}

void Cooldown::refund(State& state, const Ask& ask) const {
    state = settle(state, policy_, reached(state, ask.now));
    state.changes = std::max<std::int64_t>(0, state.changes - ask.cost);
    if (state.changes == 0) {
        state.window_start = kNever;
    }
}

Moment Cooldown::idle_at(const State& state) const {
    const Ticks pause_end = state.last_change == kNever ? 0 : state.last_change + policy_.cooldown;
    const Ticks hour_end = state.changes == 0 ? 0 : state.window_start + policy_.window;
    return moment_of(std::max(pause_end, hour_end));
}

}  // namespace sluice
