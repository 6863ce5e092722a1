#include <sluice/plan_registry.hpp>

#include "core/limits/override_draft.hpp"
#include "library/translation.hpp"

namespace sluice {
namespace {

Result<std::shared_ptr<const BookedPlan>, std::string> book(const PlanDraft& draft) {
    auto plan = make_plan(draft);
    if (!plan) {
        return Unexpected{plan.error().what};
    }
    return std::make_shared<const BookedPlan>(
        BookedPlan{std::move(*plan), draft, PlanOrigin::Admin, 0, std::nullopt});
}

}  // namespace

Result<RatePlan, std::string> RatePlan::make(const RateLimitConfig& config) {
    auto booked = book(draft_of(config));
    return booked ? Result<RatePlan, std::string>{RatePlan{*std::move(booked)}} : Unexpected{booked.error()};
}

Result<RatePlan, std::string> RatePlan::overridden(const RateLimitOverride& instead) const {
    auto booked = book(completed(draft_of(instead), plan_->draft));
    return booked ? Result<RatePlan, std::string>{RatePlan{*std::move(booked)}} : Unexpected{booked.error()};
}

std::string_view RatePlan::name() const { return plan_->plan.name(); }

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
