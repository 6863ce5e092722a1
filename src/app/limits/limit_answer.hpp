#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "app/limits/limit_store.hpp"
#include "app/limits/plan_book.hpp"

namespace sluice {

// Whether a key may have so many tokens of all the plans of these names. What is pointed at stays the
// caller's, and need not live longer than the call.
struct LimitQuestion {
    std::string_view key;
    std::span<const std::string_view> plans;
    Tokens cost = 1;  // 0: a peek.
};

enum class LimitReason : std::uint8_t {
    Ok,
    Denied,
    Shadow,      // Allowed, though a plan in shadow mode would have denied.
    FailOpen,    // Allowed, because the store did not answer.
    FailClosed,  // Denied, because the store did not answer.
    Local,       // Allowed or denied by this process alone, because the store did not answer.
    Contended,   // Denied, because others held the key for too long.
};

struct LimitAnswer {
    bool allowed = false;
    LimitReason reason = LimitReason::Denied;
    std::size_t check = 0;             // Of checks that were decided together: which one speaks.
    const BookedPlan* plan = nullptr;  // The plan that speaks: one of `plans`.
    Tokens limit = 0;
    Tokens remaining = 0;  // FailOpen, FailClosed and Contended: not known, 0.
    Wait retry_after{};    // Denied: never 0.
    Wait reset_after{};
    LeaseId lease{};
    std::shared_ptr<const PlanSet> plans;  // Those that decided; keeps `plan` alive.
};

enum class LimitErrorKind : std::uint8_t {
    UnknownPlan,
    InvalidKey,
    InvalidPlans,
    InvalidCost,
    InvalidRule,  // An override's.
    Apart,        // Keys that the store cannot decide together.
    Full,         // No more overrides.
    Unavailable,  // The store did not answer. Only where no plan's policy can stand in.
};

// Why there is no answer, in one sentence for the caller. Nothing was charged, except that after Unavailable
// something may have been.
struct LimitError {
    LimitErrorKind kind;
    std::string detail;
};

using LimitReply = Result<LimitAnswer, LimitError>;

// A question whose plans were looked up. Its key and plans live as long as what they were made from.
struct ResolvedCheck {
    std::string_view key;
    std::array<const BookedPlan*, kPlansPerCheckMax> booked;
    std::array<const Plan*, kPlansPerCheckMax> plans;
    std::size_t count = 0;
    Tokens cost = 1;

    [[nodiscard]] Check to_check() const { return {key, {plans.data(), count}, cost}; }
    [[nodiscard]] std::span<const BookedPlan* const> all() const { return {booked.data(), count}; }
};

// Looks the plans up and checks all that can be checked without a store.
Result<ResolvedCheck, LimitError> resolve(const LimitQuestion& question, const PlanSet& plans);

// Names the plan that nobody knows, unless the name is none that a plan could have: such may be any bytes.
LimitError unknown_plan(std::string_view name);

// What checks that are decided as one get when others hold one of their keys. Denied, whatever their plans
// say of a store that fails: who could hold a key would otherwise un-limit it. Plans in shadow mode deny
// nobody. REQUIRES: at least one check. The plans belong to `plans`.
LimitAnswer contended_answer(std::span<const ResolvedCheck> checks, std::shared_ptr<const PlanSet> plans,
                             Wait retry_after);

// What a store's refusal means; of a check, with the plan that it was too much for.
LimitError refusal_of(LimitFault fault);
LimitError refusal_of(LimitFault fault, const ResolvedCheck& check);

}  // namespace sluice
