#include "library/fallback.hpp"

#include "library/translation.hpp"

namespace sluice {
namespace {

// About as long as a repository waits for a key that others hold.
constexpr std::chrono::milliseconds kContendedWait{100};

}  // namespace

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

void Fallback::prepare(Call& call, std::string_view key, std::span<const RatePlan> plans,
                       std::int64_t tokens) {
    call.plans.reserve(plans.size());
    ResolvedCheck& check = call.check;
    check.key = key;
    check.cost = tokens;
    for (const RatePlan& plan : plans) {
        call.plans.push_back(plan.booked());
        call.plans.back().number = number_of_plan(plan.name());
        check.booked[check.count] = &call.plans.back();
        check.plans[check.count] = &call.plans.back().plan;
        ++check.count;
    }
}

RateLimitResult Fallback::answer(std::string_view key, std::span<const RatePlan> plans, std::int64_t tokens) {
    Call call;
    prepare(call, key, plans, tokens);
    const LimitReply reply = policy_.answer({&call.check, 1}, nullptr, std::chrono::steady_clock::now());
    return reply ? result_of(*reply) : invalid_result();
}

bool Fallback::refund(std::string_view key, std::span<const RatePlan> plans, std::int64_t tokens) {
    Call call;
    prepare(call, key, plans, tokens);
    return policy_.refund(call.check);
}

void Fallback::heed(std::string_view key, const RatePlan& instead, const RateLimitOverrideEnd& until) {
    const Plan& plan = instead.booked().plan;
    policy_.heed(key, plan, {plan.rule(), end_at(until)});
}

RateLimitResult Fallback::contended(std::string_view key, std::span<const RatePlan> plans,
                                    std::int64_t tokens) {
    Call call;
    prepare(call, key, plans, tokens);
    return result_of(contended_answer({&call.check, 1}, nullptr, kContendedWait));
}

}  // namespace sluice
