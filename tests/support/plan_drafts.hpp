#pragma once

#include <vector>

#include "core/limits/plan.hpp"

namespace sluice::test {

// "gold" (3, one a second) and "daily" (10) fail open, "strict" closed, "near" locally; "tried" is in shadow
// mode; `leases` (a minute each) are so many.
inline std::vector<PlanDraft> plans_of_every_kind(const std::string& leases, Tokens places) {
    const auto bucket = [](const char* name, Tokens capacity) {
        return PlanDraft{.name = name, .algorithm = "token_bucket", .capacity = capacity, .refill = "1/s"};
    };
    PlanDraft strict = bucket("strict", 3);
    strict.on_store_failure = "closed";
    PlanDraft near = bucket("near", 2);
    near.on_store_failure = "local";
    PlanDraft tried = bucket("tried", 1);
    tried.shadow = true;
    return {bucket("gold", 3),
            {.name = "daily", .algorithm = "fixed_window", .capacity = 10, .window = "day"},
            strict,
            near,
            tried,
            {.name = leases, .algorithm = "concurrency", .capacity = places, .window = "PT1M"}};
}

}  // namespace sluice::test
