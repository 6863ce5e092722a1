#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/slots/occupancy.hpp"
#include "support/naive_windows.hpp"
#include "support/slot_words.hpp"

namespace sluice::test {
namespace {

// One event of a random history: placed, and perhaps cancelled or moved later.
struct Turn {
    int kind = 0;    // 0 and 1: a new event; 2: an old one goes; 3: an old one moves.
    int policy = 0;  // Which of the policies that share the pool.
    int offset_ms = 0;
    int weight = 1;
    int max_delay_ms = 0;  // 0: none.
    int target = 0;        // Which old one.
};

std::ostream& operator<<(std::ostream& out, const Turn& turn) {
    return out << "{kind " << turn.kind << ", policy " << turn.policy << ", offset " << turn.offset_ms
               << ", weight " << turn.weight << ", delay " << turn.max_delay_ms << ", target " << turn.target
               << '}';
}

struct Pool {
    int window_ms = 1;
    std::vector<int> caps;
    std::vector<int> lookaheads;  // -1: none.
};

std::ostream& operator<<(std::ostream& out, const Pool& pool) {
    out << "windows of " << pool.window_ms << " ms;";
    for (std::size_t i = 0; i < pool.caps.size(); ++i) {
        out << " cap " << pool.caps[i] << " lookahead " << pool.lookaheads[i];
    }
    return out;
}

rc::Gen<Turn> any_turn() {
    using rc::gen::inRange;
    return rc::gen::construct<Turn>(
        inRange(0, 4), inRange(0, 3), inRange(0, 3000), inRange(1, 8),
        rc::gen::weightedOneOf<int>({{2, rc::gen::just(0)}, {1, inRange(1, 3000)}}), inRange(0, 1000));
}

rc::Gen<Pool> any_pool() {
    return rc::gen::construct<Pool>(
        rc::gen::element(1, 7, 10, 100, 250, 999, 1000, 4000),
        rc::gen::container<std::vector<int>>(3, rc::gen::inRange(1, 12)),
        rc::gen::container<std::vector<int>>(
            3, rc::gen::weightedOneOf<int>({{2, rc::gen::just(-1)}, {1, rc::gen::inRange(0, 12)}})));
}

SlotPolicy policy_of(const Pool& pool, int index) {
    const auto at = static_cast<std::size_t>(index);
    SlotPolicy policy{WindowGrid{Duration{pool.window_ms}}, static_cast<Places>(pool.caps.at(at)), {}};
    if (pool.lookaheads.at(at) >= 0) {
        policy.max_lookahead = pool.lookaheads.at(at);
    }
    return policy;
}

struct Taken {
    WindowIndex window;
    Places weight;
};

// What the rules say of one placement, whoever made it.
void check_rules(const SlotPolicy& policy, const SlotAsk& ask, const Placement& placed, Places held_before) {
    RC_ASSERT(placed.scheduled >= ask.requested);
    RC_ASSERT(policy.grid.index_of(placed.scheduled) == placed.window);
    RC_ASSERT(held_before + ask.weight <= policy.max_per_window);
    if (ask.max_delay) {
        RC_ASSERT(placed.scheduled - ask.requested <= *ask.max_delay);
    }
    const WindowIndex first = policy.grid.index_of(ask.requested);
    if (policy.max_lookahead) {
        RC_ASSERT(placed.window - first <= *policy.max_lookahead);
    }
    if (placed.window == first) {
        RC_ASSERT(held_before + ask.weight <= first_window_capacity(policy, ask.requested));
    }
}

// Runs a history on one kind of counts. Every placement is checked against the rules.
template <class Counts>
std::vector<std::optional<Instant>> play(const Pool& pool, const std::vector<Turn>& turns) {
    Counts counts;
    Random random{17};
    std::vector<Taken> taken;
    std::vector<std::optional<Instant>> scheduled;
    for (const Turn& turn : turns) {
        const SlotPolicy policy = policy_of(pool, turn.policy);
        SlotAsk ask{kNoon + Duration{turn.offset_ms},
                    std::min(static_cast<Places>(turn.weight), policy.max_per_window)};
        if (turn.max_delay_ms > 0) {
            ask.max_delay = Duration{turn.max_delay_ms};
        }
        if (turn.kind >= 2 && !taken.empty()) {
            const auto old = taken.begin() + turn.target % static_cast<int>(taken.size());
            counts.remove(old->window, old->weight);
            taken.erase(old);
        }
        if (turn.kind == 2) {
            continue;
        }
        const auto placed = place(policy, ask, counts, random);
        scheduled.push_back(placed ? std::optional{placed->scheduled} : std::nullopt);
        if (placed) {
            check_rules(policy, ask, *placed, counts.held(placed->window));
            counts.add(placed->window, ask.weight);
            taken.push_back({placed->window, ask.weight});
        }
    }
    return scheduled;
}

RC_GTEST_PROP(SlotPlannerProperty, PlacesLikeASearchWindowByWindow, ()) {
    const auto pool = *any_pool();
    const auto turns = *rc::gen::container<std::vector<Turn>>(any_turn());

    RC_ASSERT(play<Occupancy>(pool, turns) == play<NaiveWindows>(pool, turns));
}

RC_GTEST_PROP(SlotPlannerProperty, IsExhaustedOnlyWhenNoWindowWithinReachHasRoom, ()) {
    const auto pool = *any_pool();
    const SlotPolicy policy = policy_of(pool, 0);
    const auto weight = *rc::gen::inRange<Places>(1, policy.max_per_window + 1);
    const auto delay = *rc::gen::inRange(1, pool.window_ms * 30);
    const SlotAsk ask{kNoon + Duration{*rc::gen::inRange(0, 3000)}, weight, Duration{delay}};
    const WindowRange range = reach(policy, ask);
    NaiveWindows counts;
    for (WindowIndex window = range.first; window <= range.last; ++window) {
        counts.set(window, *rc::gen::inRange<Places>(0, policy.max_per_window + 1));
    }

    const auto found = find_window(policy, ask, counts);

    for (WindowIndex window = range.first; window <= range.last; ++window) {
        const Places capacity =
            window == range.first ? first_window_capacity(policy, ask.requested) : policy.max_per_window;
        const bool room = counts.held(window) + weight <= capacity;
        RC_ASSERT((room ? found.has_value() && *found <= window : found != window));
    }
}

struct Write {
    int window = 0;
    int places = 0;
};
std::ostream& operator<<(std::ostream& out, const Write& write) {
    return out << '[' << write.window << "]=" << write.places;
}

RC_GTEST_PROP(OccupancyProperty, AgreesWithAMapAfterAnyWrites, ()) {
    const auto writes = *rc::gen::container<std::vector<Write>>(
        rc::gen::construct<Write>(rc::gen::inRange(0, 200), rc::gen::inRange(0, 4)));
    const auto base = *rc::gen::element<WindowIndex>(0, 60, 4090, 435'000'000, (WindowIndex{1} << 48) - 200);
    Occupancy tree;
    NaiveWindows map;
    for (const Write& write : writes) {
        tree.set(base + write.window, static_cast<Places>(write.places));
        map.set(base + write.window, static_cast<Places>(write.places));
    }

    for (WindowIndex first = base; first < base + 200; ++first) {
        RC_ASSERT(tree.held(first) == map.held(first));
        for (Places held_max = 0; held_max < 4; ++held_max) {
            const WindowRange range{first, base + 199};
            RC_ASSERT(tree.earliest_holding_at_most(range, held_max) ==
                      map.earliest_holding_at_most(range, held_max));
        }
    }
}

// Between the writes, so that what one search has learnt must not mislead the next.
RC_GTEST_PROP(OccupancyProperty, AgreesWithAMapOnAnySearchBetweenWrites, ()) {
    Occupancy tree;
    NaiveWindows map;
    const auto steps = *rc::gen::inRange(1, 200);
    for (int step = 0; step < steps; ++step) {
        const auto window = *rc::gen::inRange<WindowIndex>(0, 12);
        const auto places = static_cast<Places>(*rc::gen::inRange(0, 4));
        tree.set(window, places);
        map.set(window, places);

        const WindowRange range{*rc::gen::inRange<WindowIndex>(0, 4), *rc::gen::inRange<WindowIndex>(0, 12)};
        const auto held_max = static_cast<Places>(*rc::gen::inRange(0, 4));
        RC_ASSERT(tree.earliest_holding_at_most(range, held_max) ==
                  map.earliest_holding_at_most(range, held_max));
    }
}

}  // namespace
}  // namespace sluice::test
