#pragma once

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

// One plan of a chain, with what is remembered of the key.
struct ChainLink {
    const Plan* plan;
    LimitState state;  // The alternative that belongs to the plan's rule.
};

// Decides a check over all plans at once: all of them are charged, or none is. A plan in shadow mode that
// denies is not charged. This is what every store must agree with.
// REQUIRES: at least one link, no plan twice, ask.cost within every plan's limit.
Verdict decide_chain(std::span<ChainLink> links, const Ask& ask);

}  // namespace sluice
