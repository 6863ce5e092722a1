#include "core/slots/planner.hpp"

#include <algorithm>

namespace sluice {
namespace {

// The last instant at which `ask` may be scheduled.
Instant latest_for(const SlotAsk& ask) { return ask.requested + ask.max_delay.value_or(kTenYears); }

Instant latest_in(const SlotPolicy& policy, const SlotAsk& ask, WindowIndex window) {
    return std::min(policy.grid.start_of(window + 1) - Duration{1}, latest_for(ask));
}

OffsetRange offsets_in(const SlotPolicy& policy, const SlotAsk& ask, WindowIndex window) {
    const Instant start = policy.grid.start_of(window);
    return {earliest_in(policy, ask, window) - start, latest_in(policy, ask, window) - start};
}

// A window with room has as many free cells, but max_delay may end before the first of them.
bool has_cells(const SlotPolicy& policy, const SlotAsk& ask, WindowIndex window, WindowCounts& counts) {
    if (policy.spread == Spread::Random || latest_for(ask) >= policy.grid.start_of(window + 1)) {
        return true;
    }
    const auto cells = counts.cells(window, policy.max_per_window);
    return !cells || cells->fits(policy.grid.size(), offsets_in(policy, ask, window), ask.weight);
}

// The earliest window whose count leaves room.
std::optional<WindowIndex> find_room(const SlotPolicy& policy, const SlotAsk& ask, WindowCounts& counts) {
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

}  // namespace

SlotAsk asked_at(const SlotPolicy& policy, SlotAsk ask, Instant now) {
    if (policy.past == Past::Now) {
        ask.requested = std::max(ask.requested, now);
    }
    return ask;
}

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
    const auto window = find_room(policy, ask, counts);
    // Only the last window within reach can end before its cells do: there is no other to look at.
    return window && has_cells(policy, ask, *window, counts) ? window : std::nullopt;
}

Instant earliest_in(const SlotPolicy& policy, const SlotAsk& ask, WindowIndex window) {
    return std::max(ask.requested, policy.grid.start_of(window));
}

Instant draw_time(const SlotPolicy& policy, const SlotAsk& ask, WindowIndex window, Random& random) {
    const Instant earliest = earliest_in(policy, ask, window);
    const auto choices = static_cast<std::uint64_t>((latest_in(policy, ask, window) - earliest).count() + 1);
    return earliest + Duration{static_cast<Duration::rep>(random.below(choices))};
}

std::optional<Placement> place(const SlotPolicy& policy, const SlotAsk& ask, WindowCounts& counts,
                               Random& random) {
    const auto window = find_window(policy, ask, counts);
    if (!window) {
        return std::nullopt;
    }
    if (policy.spread == Spread::Stratified) {
        const auto cells = counts.cells(*window, policy.max_per_window);
        auto pick =
            cells ? cells->pick(policy.grid.size(), offsets_in(policy, ask, *window), ask.weight, random)
                  : std::nullopt;
        if (pick) {
            return Placement{*window, policy.grid.start_of(*window) + pick->offset, std::move(pick->cells)};
        }
    }
    return Placement{*window, draw_time(policy, ask, *window, random)};
}

}  // namespace sluice
