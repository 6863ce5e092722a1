#pragma once

#include "core/limits/plan.hpp"

namespace sluice {

// What a key's override of a plan comes to: fields of the draft that are empty are as in the plan itself,
// unless another algorithm is named. Name, shadow and what happens when the store fails stay the plan's.
PlanDraft completed(PlanDraft draft, const PlanDraft& plan);

// The same rule with another limit. None where the rule cannot have it.
std::optional<LimitRule> with_limit(const LimitRule& rule, Tokens limit);

}  // namespace sluice
