#include "library/fallback.hpp"

#include <vector>

#include "library/translation.hpp"

namespace sluice {

std::uint32_t Fallback::number_of_plan(std::string_view name) {
    const std::lock_guard lock{mutex_};
    const auto known = numbers_.find(name);
    if (known != numbers_.end()) {
        return known->second;
    }
    const auto next = static_cast<std::uint32_t>(numbers_.size());
    if (numbers_.size() < PlanBook::kNamesMax) {
        numbers_.emplace(name, next);
    }
    return next;
}

RateLimitResult Fallback::answer(std::string_view key, std::span<const RatePlan> plans, std::int64_t tokens) {
    std::vector<BookedPlan> numbered;
    numbered.reserve(plans.size());  // What the check points at must not move.
    ResolvedCheck check{};
    check.key = key;
    check.cost = tokens;
    for (const RatePlan& plan : plans) {
        numbered.push_back(plan.booked());
        numbered.back().number = number_of_plan(plan.name());
        check.booked[check.count] = &numbered.back();
        check.plans[check.count] = &numbered.back().plan;
        ++check.count;
    }
    const LimitReply reply = policy_.answer({&check, 1}, nullptr, std::chrono::steady_clock::now());
    return reply ? result_of(*reply) : invalid_result();
}

}  // namespace sluice
