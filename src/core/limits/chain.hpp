#pragma once

#include <algorithm>
#include <optional>
#include <span>

#include "core/limits/plan.hpp"

namespace sluice {

// What a check over one or more plans comes to.
struct Verdict {
    bool allowed = false;
    bool shadowed = false;   // Allowed only because the plan that denied is in shadow mode.
    std::uint32_t plan = 0;  // Which of the check's plans speaks: the one that denied, or the tightest.
    Tokens limit = 0;
    Tokens remaining = 0;
    Wait retry_after{};  // Denied: until the first moment at which the same check could pass. Never 0.
    Wait reset_after{};
    LeaseId lease{};  // Allowed by a concurrency plan: what to release.

    bool operator==(const Verdict&) const = default;
};

// One plan of a chain, and how the key stands with it.
struct PlanStanding {
    const Plan* plan;
    Standing standing;
};

// Combines what each plan said. Denied if one plan denies that is not in shadow mode; of several, the one
// that keeps the check waiting longest speaks, because only then all would pass. Otherwise the plan with the
// fewest tokens left speaks, the first of equals.
// REQUIRES: at least one.
Verdict judge(std::span<const PlanStanding> standings);

// The rule that decides for a key in place of its plan's, with what is remembered under it.
struct OverrideInForce {
    const LimitRule* rule;
    LimitState state;  // The alternative that belongs to the rule.
    Moment until;      // From then on the plan itself decides.
};

// One plan of a chain, with what is remembered of the key.
struct ChainLink {
    const Plan* plan;
    LimitState state;  // The alternative that belongs to the plan's rule.
    std::optional<OverrideInForce> instead{};
};

// The first moment from `at` on at which a check passes under an override that ends, if nothing is charged
// until then. `under_override` and `under_plan` say the same of one rule alone.
template <class UnderOverride, class UnderPlan>
Moment passes_across_end(Moment at, Moment until, UnderOverride under_override, UnderPlan under_plan) {
    if (at < until) {
        const Moment passes = under_override(at);
        if (passes < until) {
            return passes;
        }
        at = until;
    }
    return under_plan(at);
}

// The first moment from `at` on at which the ask passes under one rule, if nothing is charged until then.
// What costs more than the rule could ever allow does not wait: it is told so.
template <class Rule>
Moment passes_under(const Rule& rule, const typename Rule::State& state, Ask ask, Moment at) {
    if (ask.cost > rule.limit()) {
        return at;
    }
    ask.now = at;
    const Standing standing = rule.look(state, ask);
    return standing.allowed ? at : at + standing.retry_after;
}

// The first moment from `at` on at which none of the links keeps a denied check waiting. One that passes now
// may not any more when its override ends. `first_pass(i, at)` is passes_across_end of the link with that
// number, and `at` itself where it has no override or denies nobody. REQUIRES: `at` is when each passes.
template <class FirstPass>
Moment pass_together(std::size_t links, Moment at, FirstPass first_pass) {
    for (bool moved = true; moved;) {
        moved = false;
        for (std::size_t i = 0; i < links; ++i) {
            const Moment passes = first_pass(i, at);
            moved = moved || passes > at;
            at = std::max(at, passes);
        }
    }
    return at;
}

// Decides a check over all plans at once: all of them are charged, or none is. A plan in shadow mode that
// denies is not charged. A denial's wait heeds the ends of overrides. This is what every store must agree
// with.
// REQUIRES: at least one link, no plan twice, ask.cost within every plan's limit.
Verdict decide_chain(std::span<ChainLink> links, const Ask& ask);

}  // namespace sluice
