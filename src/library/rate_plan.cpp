#include <sluice/plan_registry.hpp>

#include "core/limits/plan.hpp"

namespace sluice {

Result<RatePlan, std::string> RatePlan::make(const RateLimitConfig& config) {
    if (config.on_store_failure == "local") {
        return Unexpected{"plan '" + config.name + "': on_store_failure local is not supported yet"};
    }
    PlanDraft draft{.name = config.name, .algorithm = config.algorithm};
    draft.capacity = config.capacity;
    draft.refill = config.refill;
    draft.window = config.window;
    draft.start = config.start;
    draft.cooldown = config.cooldown;
    draft.max_per_hour = config.max_per_hour;
    draft.on_store_failure = config.on_store_failure;
    draft.shadow = config.shadow;
    auto plan = make_plan(draft);
    if (!plan) {
        return Unexpected{plan.error().what};
    }
    return RatePlan{std::make_shared<const Plan>(std::move(*plan))};
}

std::string_view RatePlan::name() const { return plan_->name(); }

bool RatePlan::fails_closed() const { return plan_->traits().on_store_failure == OnStoreFailure::Closed; }

Result<void, std::string> InMemoryPlanRegistry::put(const RateLimitConfig& config) {
    auto plan = RatePlan::make(config);
    if (!plan) {
        return Unexpected{plan.error()};
    }
    const std::unique_lock lock{mutex_};
    plans_.insert_or_assign(config.name, std::move(*plan));
    return {};
}

bool InMemoryPlanRegistry::remove(std::string_view name) {
    const std::unique_lock lock{mutex_};
    const auto found = plans_.find(name);
    if (found == plans_.end()) {
        return false;
    }
    plans_.erase(found);
    return true;
}

std::optional<RatePlan> InMemoryPlanRegistry::find(std::string_view name) const {
    const std::shared_lock lock{mutex_};
    const auto found = plans_.find(name);
    return found == plans_.end() ? std::nullopt : std::optional{found->second};
}

}  // namespace sluice
