#include "library/translation.hpp"

#include <algorithm>

namespace sluice {
namespace {

RateLimitReason reason_of(LimitReason reason) {
    switch (reason) {
        case LimitReason::Ok: return RateLimitReason::Ok;
        case LimitReason::Denied: return RateLimitReason::Denied;
        case LimitReason::Shadow: return RateLimitReason::Shadow;
        case LimitReason::FailOpen: return RateLimitReason::FailOpen;
        case LimitReason::FailClosed: return RateLimitReason::FailClosed;
        case LimitReason::Contended: return RateLimitReason::Contended;
        case LimitReason::Local: break;
    }
    return RateLimitReason::Local;
}

RateLimitErrorKind kind_of(LimitErrorKind kind) {
    switch (kind) {
        case LimitErrorKind::UnknownPlan: return RateLimitErrorKind::MissingPlan;
        case LimitErrorKind::Full: return RateLimitErrorKind::Full;
        case LimitErrorKind::Unavailable: return RateLimitErrorKind::Unavailable;
        case LimitErrorKind::InvalidKey:
        case LimitErrorKind::InvalidPlans:
        case LimitErrorKind::InvalidCost:
        case LimitErrorKind::InvalidRule:
        case LimitErrorKind::Apart: break;
    }
    return RateLimitErrorKind::Invalid;
}

// The fields that a plan and an override have in common.
template <class Written>
PlanDraft draft_of_rule(const std::string& name, const Written& written) {
    PlanDraft draft{.name = name, .algorithm = written.algorithm};
    draft.capacity = written.capacity;
    draft.refill = written.refill;
    draft.window = written.window;
    draft.start = written.start;
    draft.cooldown = written.cooldown;
    draft.max_per_hour = written.max_per_hour;
    return draft;
}

}  // namespace

OverrideEnd end_at(const RateLimitOverrideEnd& end) {
    if (const auto* const ttl = std::get_if<std::chrono::microseconds>(&end)) {
        return *ttl;
    }
    const auto time = std::get<std::chrono::system_clock::time_point>(end);
    return std::clamp(std::chrono::floor<Wait>(time), moment_of(0), moment_of(kExactMax - 1));
}

PlanDraft draft_of(const RateLimitConfig& config) {
    PlanDraft draft = draft_of_rule(config.name, config);
    draft.on_store_failure = config.on_store_failure;
    draft.shadow = config.shadow;
    return draft;
}

PlanDraft draft_of(const RateLimitOverride& instead) { return draft_of_rule(instead.plan, instead); }

RateLimitStanding standing_of(const BookedPlan& plan, const Standing& standing) {
    return {plan.plan.name(),   standing.allowed,     standing.limit,
            standing.remaining, standing.retry_after, standing.reset_after};
}

RateLimitResult result_of(const LimitAnswer& answer) {
    RateLimitResult result{answer.allowed, answer.remaining, {}, reason_of(answer.reason), {}};
    result.plan = answer.plan->plan.name();
    if (!answer.allowed) {
        result.wait = answer.retry_after;
    }
    result.lease = number_of(answer.lease);
    return result;
}

RateLimitResult invalid_result() { return {false, 0, {}, RateLimitReason::Invalid, {}}; }

RateLimitResult missing_result(std::string_view plan, MissingPlan missing) {
    return {missing == MissingPlan::Allow, 0, {}, RateLimitReason::MissingPlan, std::string{plan}};
}

RateLimitError error_of(const LimitError& error) { return {kind_of(error.kind), error.detail}; }

RateLimitError missing_error(std::string_view plan) { return error_of(unknown_plan(plan)); }

}  // namespace sluice
