#include "app/limits/fail_policy.hpp"

#include <algorithm>
#include <vector>

#include "core/limits/override_draft.hpp"

namespace sluice {
namespace {

OnStoreFailure policy_of(const BookedPlan& booked) { return booked.plan.traits().on_store_failure; }

std::uint64_t tokens_of(const ResolvedCheck& check) { return static_cast<std::uint64_t>(check.cost); }

LimitAnswer unchecked(LimitReason reason, const BookedPlan& plan) {
    LimitAnswer answer;
    answer.allowed = reason == LimitReason::FailOpen;
    answer.reason = reason;
    answer.plan = &plan;
    return answer;
}

// The plans of a check that are decided in this process.
ResolvedCheck local_part(const ResolvedCheck& check) {
    ResolvedCheck local;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    local.key = check.key;
    local.cost = check.cost;
    for (const BookedPlan* booked : check.all()) {
        if (policy_of(*booked) == OnStoreFailure::Local) {
            local.booked[local.count] = booked;
            local.plans[local.count] = &booked->plan;
            ++local.count;
        }
    }
    return local;
}

CheckOutcome take_all(LimitStore& store, std::span<const Check> checks) {
    if (checks.size() > 1) {
        return store.take_together(checks);
    }
    CheckOutcome outcome = Unexpected{LimitFault::Unavailable};
    store.take(checks, {&outcome, 1});
    return outcome;
}

// One more failure, and what it lets through. False: the budget does not reach.
bool spend_if_covered(FailBudget& budget, const FailBudgetOptions& options, SteadyTime now,
                      std::uint64_t tokens) {
    budget.failed(now);
    if (!budget.covers(options, now, tokens)) {
        return false;
    }
    budget.spend(tokens);
    return true;
}

}  // namespace

Tokens FailPolicy::limit_of(std::string_view key, const Plan& plan) const {
    const Plan* const one = &plan;
    const auto standing = local_.inspect(key, {&one, 1});
    return standing ? standing->front().limit : plan.limit();
}

void FailPolicy::saw_limit(std::string_view key, const Plan& plan, Tokens limit) {
    if (limit_of(key, plan) == limit) {
        return;  // What is known already may know more.
    }
    if (const auto rule = with_limit(plan.rule(), limit)) {
        heed(key, plan, {*rule, Wait{kBelieved}});
    }
}

bool FailPolicy::is_too_dear(const ResolvedCheck& check) const {
    const auto all = check.all();
    return std::any_of(all.begin(), all.end(), [&](const BookedPlan* booked) {
        return check.cost > limit_of(check.key, booked->plan);
    });
}

std::optional<FailPolicy::Speaker> FailPolicy::denier(Checks checks, SteadyTime now) {
    const std::lock_guard lock{mutex_};
    std::optional<Speaker> found;
    std::vector<std::pair<FailBudget*, std::uint64_t>> spent;
    for (std::size_t i = 0; i < checks.size(); ++i) {
        for (const BookedPlan* booked : checks[i].all()) {
            bool denies = policy_of(*booked) == OnStoreFailure::Closed;
            if (policy_of(*booked) == OnStoreFailure::Open) {
                FailBudget& budget = budgets_[booked->number];
                denies = !spend_if_covered(budget, options_.open, now, tokens_of(checks[i]));
                spent.emplace_back(&budget, denies ? 0 : tokens_of(checks[i]));
            }
            if (denies && !booked->plan.traits().shadow && !found) {
                found = Speaker{i, booked};
            }
        }
    }
    if (found) {
        for (const auto& [budget, tokens] : spent) {
            budget->give_back(tokens);
        }
    }
    return found;
}

Result<std::optional<LimitAnswer>, LimitError> FailPolicy::ask_local(Checks checks) {
    std::vector<ResolvedCheck> parts;
    std::vector<Speaker> speakers;  // By the number that a verdict gives a plan.
    for (std::size_t i = 0; i < checks.size(); ++i) {
        const ResolvedCheck part = local_part(checks[i]);
        for (const BookedPlan* booked : part.all()) {
            speakers.push_back({i, booked});
        }
        if (part.count > 0) {
            parts.push_back(part);
        }
    }
    if (parts.empty()) {
        return std::optional<LimitAnswer>{};
    }
    std::vector<Check> asked;
    asked.reserve(parts.size());
    for (const ResolvedCheck& part : parts) {
        asked.push_back(part.to_check());
    }
    const CheckOutcome outcome = take_all(local_, asked);
    if (!outcome && outcome.error() == LimitFault::InvalidCost) {
        return Unexpected{refusal_of(outcome.error(), parts.front())};
    }
    const Speaker speaker = speakers[outcome ? outcome->plan : 0];
    LimitAnswer answer = unchecked(LimitReason::FailClosed, *speaker.plan);
    if (outcome) {
        answer = {outcome->allowed,
                  LimitReason::Local,
                  0,
                  speaker.plan,
                  outcome->limit,
                  outcome->remaining,
                  outcome->retry_after,
                  outcome->reset_after,
                  outcome->lease,
                  nullptr};
    }
    answer.check = speaker.check;
    return std::optional{answer};
}

bool FailPolicy::refund(const ResolvedCheck& check) {
    const ResolvedCheck local = local_part(check);
    if (local.count == 0) {
        return false;
    }
    const std::lock_guard lock{mutex_};  // Of two refunds at once the second sees what the first left.
    const auto standings = local_.inspect(local.key, {local.plans.data(), local.count});
    const auto holds_it = [&](const Standing& one) { return one.limit - one.remaining >= local.cost; };
    return standings && std::ranges::all_of(*standings, holds_it) &&
           local_.refund(local.to_check()).has_value();
}

void FailPolicy::give_back(Checks checks) {
    const std::lock_guard lock{mutex_};
    for (const ResolvedCheck& check : checks) {
        for (const BookedPlan* booked : check.all()) {
            if (policy_of(*booked) == OnStoreFailure::Open) {
                budgets_[booked->number].give_back(tokens_of(check));
            }
        }
    }
}

LimitReply FailPolicy::answer(Checks checks, const std::shared_ptr<const PlanSet>& plans, SteadyTime now) {
    for (const ResolvedCheck& check : checks) {
        if (is_too_dear(check)) {
            return Unexpected{refusal_of(LimitFault::InvalidCost, check)};
        }
    }
    LimitAnswer answer;
    if (const auto denied_by = denier(checks, now)) {
        answer = unchecked(LimitReason::FailClosed, *denied_by->plan);
        answer.check = denied_by->check;
    } else {
        const auto local = ask_local(checks);
        if (!local) {
            give_back(checks);
            return Unexpected{local.error()};
        }
        answer = *local ? **local : unchecked(LimitReason::FailOpen, *checks[0].booked[0]);
        if (!answer.allowed) {
            give_back(checks);
        }
    }
    if (answer.reason != LimitReason::Local) {
        answer.limit = limit_of(checks[answer.check].key, answer.plan->plan);
    }
    if (answer.reason == LimitReason::FailClosed) {
        answer.retry_after = options_.retry_after;
        answer.reset_after = options_.retry_after;
    }
    answer.plans = plans;
    return answer;
}

}  // namespace sluice
