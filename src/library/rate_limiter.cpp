#include <algorithm>
#include <vector>

#include <sluice/rate_limiter.hpp>

namespace sluice {
namespace {

class DefaultRateLimiter final : public RateLimiter {
public:
    DefaultRateLimiter(const PlanRegistry& plans, RateLimiterRepository& repository, MissingPlan missing)
        : plans_{plans}, repository_{repository}, missing_{missing} {}

    RateLimitResult allow(std::string_view key, std::span<const std::string_view> names,
                          std::int64_t tokens) override {
        std::vector<RatePlan> plans;
        plans.reserve(names.size());
        std::optional<std::string_view> unknown;
        for (const std::string_view name : names) {
            if (auto plan = plans_.find(name)) {
                plans.push_back(std::move(*plan));
            } else if (missing_ == MissingPlan::Deny) {
                return {false, 0, {}, RateLimitReason::MissingPlan, std::string{name}};
            } else {
                unknown = name;
            }
        }
        if (plans.empty()) {
            return unknown ? RateLimitResult{true, 0, {}, RateLimitReason::MissingPlan, std::string{*unknown}}
                           : failed(RepositoryError::Invalid, plans);
        }
        const auto acquired = repository_.try_acquire(key, plans, tokens);
        return acquired ? told(*acquired, plans) : failed(acquired.error(), plans);
    }

private:
    static RateLimitResult told(const Acquisition& acquired, std::span<const RatePlan> plans) {
        const RateLimitReason reason = acquired.shadowed  ? RateLimitReason::Shadow
                                       : acquired.allowed ? RateLimitReason::Ok
                                                          : RateLimitReason::Denied;
        const auto wait = acquired.allowed ? std::chrono::microseconds{} : acquired.wait;
        // A repository may be anybody's: what it says is checked.
        const RatePlan& speaker = plans[acquired.plan < plans.size() ? acquired.plan : 0];
        return {acquired.allowed, acquired.remaining, wait, reason, std::string{speaker.name()}};
    }

    // One plan that fails closed denies for all of them. REQUIRES: at least one plan, unless Invalid.
    static RateLimitResult failed(RepositoryError error, std::span<const RatePlan> plans) {
        if (error == RepositoryError::Invalid) {
            return {false, 0, {}, RateLimitReason::Invalid, {}};
        }
        const auto closed = std::find_if(plans.begin(), plans.end(),
                                         [](const RatePlan& plan) { return plan.fails_closed(); });
        if (closed != plans.end()) {
            return {false, 0, {}, RateLimitReason::FailClosed, std::string{closed->name()}};
        }
        return {true, 0, {}, RateLimitReason::FailOpen, std::string{plans.front().name()}};
    }

    const PlanRegistry& plans_;
    RateLimiterRepository& repository_;
    const MissingPlan missing_;
};

}  // namespace

std::unique_ptr<RateLimiter> make_rate_limiter(const PlanRegistry& plans, RateLimiterRepository& repository,
                                               MissingPlan missing) {
    return std::make_unique<DefaultRateLimiter>(plans, repository, missing);
}

}  // namespace sluice
