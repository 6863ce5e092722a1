#include "core/slots/planner.hpp"

#include <algorithm>

namespace sluice {
namespace {

// The last instant at which `ask` may be scheduled.
Instant latest_for(const SlotAsk& ask) { return ask.requested + ask.max_delay.value_or(kTenYears); }

}  // namespace

WindowRange reach(const SlotPolicy& policy, const SlotAsk& ask) {
    const WindowIndex first = policy.grid.index_of(ask.requested);
    WindowIndex last = policy.grid.index_of(latest_for(ask));
    if (policy.max_lookahead && *policy.max_lookahead < last - first) {  // The sum may not fit.
        last = first + *policy.max_lookahead;
    }
    return {first, last};
}

Places first_window_capacity(const SlotPolicy& policy, Instant requested) {
    const Duration size = policy.grid.size();
    const Duration elapsed = requested - policy.grid.start_of(policy.grid.index_of(requested));
    // At most 1e9 places times 31 days in milliseconds: 2.7e18 fits 63 bits.
    return static_cast<Places>(std::int64_t{policy.max_per_window} * (size - elapsed).count() / size.count());
}

std::optional<WindowIndex> find_window(const SlotPolicy& policy, const SlotAsk& ask, WindowCounts& counts) {
    const WindowRange range = reach(policy, ask);
    const Places capacity = first_window_capacity(policy, ask.requested);
    if (ask.weight <= capacity && counts.held(range.first) <= capacity - ask.weight) {
        return range.first;
    }
    if (range.first == range.last) {
        return std::nullopt;
    }
    return counts.earliest_holding_at_most({range.first + 1, range.last}, policy.max_per_window - ask.weight);
}

Instant earliest_in(const SlotPolicy& policy, const SlotAsk& ask, WindowIndex window) {
    return std::max(ask.requested, policy.grid.start_of(window));
}

Instant draw_time(const SlotPolicy& policy, const SlotAsk& ask, WindowIndex window, Random& random) {
    const Instant earliest = earliest_in(policy, ask, window);
    const Instant latest = std::min(policy.grid.start_of(window + 1) - Duration{1}, latest_for(ask));
    const auto choices = static_cast<std::uint64_t>((latest - earliest).count() + 1);
    return earliest + Duration{static_cast<Duration::rep>(random.below(choices))};
}

std::optional<Placement> place(const SlotPolicy& policy, const SlotAsk& ask, WindowCounts& counts,
                               Random& random) {
    const auto window = find_window(policy, ask, counts);
    if (!window) {
        return std::nullopt;
    }
    return Placement{*window, draw_time(policy, ask, *window, random)};
}

}  // namespace sluice
