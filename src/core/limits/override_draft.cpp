#include "core/limits/override_draft.hpp"

namespace sluice {
namespace {

auto limited_to(const TokenBucket& rule, Tokens limit) {
    return TokenBucket::make(limit, {rule.speed(), Wait{rule.unit()}});
}
auto limited_to(const FixedWindow& rule, Tokens limit) { return FixedWindow::make(limit, rule.cut()); }
auto limited_to(const SlidingWindow& rule, Tokens limit) { return SlidingWindow::make(limit, rule.window()); }
auto limited_to(const SlidingWindowEstimate& rule, Tokens limit) {
    return SlidingWindowEstimate::make(limit, rule.window());
}
auto limited_to(const Cooldown& rule, Tokens limit) { return Cooldown::make(rule.pause(), limit); }
auto limited_to(const Concurrency& rule, Tokens limit) { return Concurrency::make(limit, rule.term()); }

}  // namespace

std::optional<LimitRule> with_limit(const LimitRule& rule, Tokens limit) {
    return std::visit(
        [limit](const auto& each) -> std::optional<LimitRule> {
            auto made = limited_to(each, limit);
            return made ? std::optional<LimitRule>{*std::move(made)} : std::nullopt;
        },
        rule);
}

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
