#include "core/governor/governor.hpp"

#include <algorithm>
#include <type_traits>

namespace sluice {

// PostgreSQL leaves functions by longjmp, past every destructor.
static_assert(std::is_trivially_copyable_v<GovernorStep> && std::is_trivially_destructible_v<GovernorStep>);

GovernorState settle(const GovernorState& state, const GovernorPolicy& policy, Ticks now) {
    GovernorState settled = state;
    settled.last_change = std::min(state.last_change, now);
    settled.window_start = std::min(state.window_start, now);
    // Subtracted, not added: the end of a window may not fit.
    if (settled.window_start != kNever && now - settled.window_start >= policy.window) {
        settled.window_start = kNever;
        settled.changes = 0;
    }
    return settled;
}

GovernorRuling look(const GovernorState& state, const GovernorPolicy& policy, Ticks now) {
    if (policy.changes_max == 0) {
        return {GovernorVerdict::Disabled, kForever};
    }
    const GovernorState settled = settle(state, policy, now);
    if (settled.last_change != kNever && now - settled.last_change < policy.cooldown) {
        return {GovernorVerdict::Cooldown, policy.cooldown - (now - settled.last_change)};
    }
    if (settled.changes >= policy.changes_max) {
        return {GovernorVerdict::WindowFull, policy.window - (now - settled.window_start)};
    }
    return {};
}

GovernorState record(const GovernorState& state, const GovernorPolicy& policy, Ticks now) {
    GovernorState next = settle(state, policy, now);
    next.last_change = now;
    if (next.window_start == kNever) {
        next.window_start = now;
    }
    ++next.changes;
    return next;
}

GovernorStep decide(const GovernorState& state, const GovernorPolicy& policy, Ticks now) {
    const GovernorRuling ruling = look(state, policy, now);
    if (ruling.verdict == GovernorVerdict::Allowed) {
        return {record(state, policy, now), ruling};
    }
    return {settle(state, policy, now), ruling};
}

}  // namespace sluice
