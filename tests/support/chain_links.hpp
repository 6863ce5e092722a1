#pragma once

#include "base/random.hpp"
#include "core/limits/chain.hpp"

// What a store does to a key beside checks, done to the rules alone.
namespace sluice::test {

inline LimitState fresh_state_of(const LimitRule& rule) {
    return std::visit([](const auto& each) { return LimitState{each.fresh()}; }, rule);
}

// The link as it is at that moment: an override that has ended is gone.
inline void settle(ChainLink& link, Moment now) {
    if (link.instead && link.instead->until <= now) {
        link.instead.reset();
    }
}

// To a key that is not known there is nothing to give back. REQUIRES: settled.
inline void refund_to(ChainLink& link, const Ask& ask) {
    const LimitRule& in_force = link.instead ? *link.instead->rule : link.plan->rule();
    std::visit(
        [&](const auto& rule) {
            using State = typename std::remove_cvref_t<decltype(rule)>::State;
            auto& state = std::get<State>(link.instead ? link.instead->state : link.state);
            if (state != rule.fresh()) {
                rule.refund(state, ask);
            }
        },
        in_force);
}

inline void reset(ChainLink& link) {
    link.state = link.plan->fresh();
    if (link.instead) {
        link.instead->state = fresh_state_of(*link.instead->rule);
    }
}

// Some of the plans' rules for one of the links, until soon. Every one of them allows as much as is asked
// for.
inline std::pair<const LimitRule*, Wait> draw_override(Random& random, std::span<const Plan> plans) {
    return {&plans[random.below(plans.size())].rule(), Wait{static_cast<std::int64_t>(random.below(200))}};
}

// As a store that got this override at that moment.
inline void put_override(ChainLink& link, const std::pair<const LimitRule*, Wait>& drawn, Moment now) {
    link.instead = OverrideInForce{drawn.first, fresh_state_of(*drawn.first), now + drawn.second};
    settle(link, now);
}

}  // namespace sluice::test
