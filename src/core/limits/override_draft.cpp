#include "core/limits/override_draft.hpp"

namespace sluice {

PlanDraft completed(PlanDraft draft, const PlanDraft& plan) {
    const bool same_algorithm = draft.algorithm.empty() || draft.algorithm == plan.algorithm;
    draft.name = plan.name;
    draft.on_store_failure = plan.on_store_failure;
    draft.shadow = plan.shadow;
    if (!same_algorithm) {
        return draft;
    }
    draft.algorithm = plan.algorithm;
    // capacity and max_per_hour are one limit under two names.
    if (!draft.capacity && !draft.max_per_hour) {
        draft.capacity = plan.capacity;
        draft.max_per_hour = plan.max_per_hour;
    }
    for (auto field : {&PlanDraft::refill, &PlanDraft::window, &PlanDraft::start, &PlanDraft::cooldown}) {
        if ((draft.*field).empty()) {
            draft.*field = plan.*field;
        }
    }
    return draft;
}

}  // namespace sluice
