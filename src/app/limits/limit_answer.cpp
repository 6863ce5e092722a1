#include "app/limits/limit_answer.hpp"

#include <algorithm>

namespace sluice {
namespace {

LimitError error(LimitErrorKind kind, std::string detail) { return {kind, std::move(detail)}; }

LimitError invalid_key() { return error(LimitErrorKind::InvalidKey, "A key is 1 to 256 bytes."); }

}  // namespace

Result<ResolvedCheck, LimitError> resolve(const LimitQuestion& question, const PlanSet& plans) {
    if (question.key.empty() || question.key.size() > kLimitKeyBytesMax) {
        return Unexpected{invalid_key()};
    }
    if (question.plans.empty() || question.plans.size() > kPlansPerCheckMax) {
        return Unexpected{error(LimitErrorKind::InvalidPlans, "A check names 1 to 16 plans.")};
    }
    if (question.cost < 0) {
        return Unexpected{error(LimitErrorKind::InvalidCost, "The tokens must not be negative.")};
    }
    // Not initialised as a whole: arrays that are not used yet are not worth writing.
    ResolvedCheck check;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    check.key = question.key;
    check.cost = question.cost;
    for (const std::string_view name : question.plans) {
        const BookedPlan* booked = plans.find(name);
        if (booked == nullptr) {
            return Unexpected{unknown_plan(name)};
        }
        const auto known = check.all();
        if (std::find(known.begin(), known.end(), booked) != known.end()) {
            return Unexpected{
                error(LimitErrorKind::InvalidPlans, "The plan '" + std::string{name} + "' is named twice.")};
        }
        check.booked[check.count] = booked;
        check.plans[check.count] = &booked->plan;
        ++check.count;
    }
    return check;
}

LimitError unknown_plan(std::string_view name) {
    return error(LimitErrorKind::UnknownPlan,
                 is_plan_name(name) ? "There is no plan '" + std::string{name} + "'."
                                    : "There is no such plan: names are letters, digits and _ . : -");
}

LimitAnswer contended_answer(std::span<const ResolvedCheck> checks, std::shared_ptr<const PlanSet> plans,
                             Wait retry_after) {
    LimitAnswer answer;
    answer.allowed = true;
    answer.reason = LimitReason::Shadow;
    answer.plan = checks.front().booked.front();
    answer.retry_after = answer.reset_after = retry_after;
    answer.plans = std::move(plans);
    for (std::size_t i = 0; i < checks.size() && answer.allowed; ++i) {
        for (const BookedPlan* booked : checks[i].all()) {
            if (!booked->plan.traits().shadow) {
                answer.allowed = false;
                answer.reason = LimitReason::Contended;
                answer.check = i;
                answer.plan = booked;
                break;
            }
        }
    }
    answer.limit = answer.plan->plan.limit();
    return answer;
}

LimitError refusal_of(LimitFault fault) {
    switch (fault) {
        case LimitFault::InvalidKey: return invalid_key();
        case LimitFault::InvalidPlans:
            return error(LimitErrorKind::InvalidPlans,
                         "At most 16 plans are decided together, and a key comes once under each.");
        case LimitFault::InvalidCost:
            return error(LimitErrorKind::InvalidCost, "More than a plan could ever allow.");
        case LimitFault::Apart:
            return error(LimitErrorKind::Apart,
                         "The store keeps these keys in different places and cannot decide them together.");
        case LimitFault::Full: return error(LimitErrorKind::Full, "The store has no room for more.");
        case LimitFault::Contended:
            return error(LimitErrorKind::Unavailable, "Others held the key for too long; try again.");
        case LimitFault::Unavailable: break;
    }
    return error(LimitErrorKind::Unavailable, "The store of limits does not answer.");
}

LimitError refusal_of(LimitFault fault, const ResolvedCheck& check) {
    if (fault != LimitFault::InvalidCost) {
        return refusal_of(fault);
    }
    const auto by_limit = [](const BookedPlan* left, const BookedPlan* right) {
        return left->plan.limit() < right->plan.limit();
    };
    const auto all = check.all();
    const BookedPlan& least = **std::min_element(all.begin(), all.end(), by_limit);
    return error(LimitErrorKind::InvalidCost, "More than the plan '" + least.plan.name() +
                                                  "' could ever allow: " + std::to_string(check.cost) +
                                                  " tokens.");
}

}  // namespace sluice
