#pragma once

#include <map>
#include <mutex>
#include <span>

#include "app/limits/fail_budget.hpp"
#include "app/limits/limit_answer.hpp"

namespace sluice {

// Keys of `local` plans that one process counts while its store fails. Their memory is touched only then.
inline constexpr std::size_t kLocalKeysMax = 100'000;

struct FailPolicyOptions {
    FailBudgetOptions open;
    std::chrono::milliseconds retry_after{
        1'000};  // What a check is told that is denied for want of the store.
};

// Answers checks when the store does not, as each plan says: closed denies; open allows within its budget and
// denies beyond it; local lets `local`, a store of this process, decide by the same rule. All plans of a
// check must agree. A plan in shadow mode never denies. A peek spends nothing. What a key's override allows
// counts, as far as this process has heard of it: `local` remembers that, and no more than it may hold.
// Thread safety: all of it.
class FailPolicy {
public:
    // `local` must outlive the policy.
    FailPolicy(FailPolicyOptions options, LimitStore& local) : options_{options}, local_{local} {}

    // The store has this override from now on.
    void heed(std::string_view key, const Plan& plan, const LimitOverride& replacement) {
        (void)local_.put_override(key, plan, replacement);
    }
    // The store decided the key by another limit than the plan's: somebody else has overridden it. Believed
    // for kBelieved.
    void saw_limit(std::string_view key, const Plan& plan, Tokens limit);
    static constexpr std::chrono::minutes kBelieved{5};

    // Decides these checks as one. Fails if a check is wrong in itself.
    // REQUIRES: at least one check. The plans belong to `plans`.
    LimitReply answer(std::span<const ResolvedCheck> checks, const std::shared_ptr<const PlanSet>& plans,
                      SteadyTime now);

    // Gives back what answer() took of the check's local plans. False: this process does not hold as much
    // against the key, so it was not taken here.
    bool refund(const ResolvedCheck& check);

private:
    using Checks = std::span<const ResolvedCheck>;
    struct Speaker {
        std::size_t check = 0;
        const BookedPlan* plan = nullptr;
    };

    // What the plan allows the key at most, its override heeded.
    [[nodiscard]] Tokens limit_of(std::string_view key, const Plan& plan) const;
    // Whether a plan is asked for more than it could ever allow the key.
    [[nodiscard]] bool is_too_dear(const ResolvedCheck& check) const;
    // The first plan that denies by its policy alone. None: what the open ones let through is spent.
    std::optional<Speaker> denier(Checks checks, SteadyTime now);
    // What the local plans say. None: no plan is local.
    Result<std::optional<LimitAnswer>, LimitError> ask_local(Checks checks);
    void give_back(Checks checks);

    const FailPolicyOptions options_;
    LimitStore& local_;
    std::mutex mutex_;
    std::map<std::uint32_t, FailBudget> budgets_;  // Guarded by mutex_. By plan; names are bounded.
};

}  // namespace sluice
