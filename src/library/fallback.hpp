#pragma once

#include <map>
#include <mutex>
#include <vector>

#include <sluice/rate_limiter.hpp>

#include "app/limits/fail_policy.hpp"
#include "library/owned_store.hpp"

namespace sluice {

// Answers in place of a repository that does not, as each plan says.
// Thread safety: all of it.
class Fallback {
public:
    // Throws std::bad_alloc if the memory for local keys cannot be had.
    Fallback() : local_{make_memory_store(kLocalKeysMax)}, policy_{{}, *local_.store} {}

    // Invalid if the tokens are more than a plan could ever allow.
    // REQUIRES: a key that a store would take, no negative tokens, and 1 to kPlansPerCheckMax plans.
    RateLimitResult answer(std::string_view key, std::span<const RatePlan> plans, std::int64_t tokens);

    // What a call gets whose key others hold. REQUIRES: as answer().
    RateLimitResult contended(std::string_view key, std::span<const RatePlan> plans, std::int64_t tokens);

    // The repository decides the key by this plan from now on.
    void heed(std::string_view key, const RatePlan& instead, const RateLimitOverrideEnd& until);
    // Gives back what answer() took of local plans. False: it is not held here. REQUIRES: as answer().
    bool refund(std::string_view key, std::span<const RatePlan> plans, std::int64_t tokens);
    // Gives back a lease of answer(). False: it is none, or not held any more.
    bool release(std::string_view key, const RatePlan& plan, std::uint64_t lease) const {
        const auto released = local_.store->release(key, plan.booked().plan, LeaseId{lease});
        return released && *released;
    }

private:
    // The plans of a call, numbered. A check points at them, so they must not move.
    struct Call {
        std::vector<BookedPlan> plans;
        ResolvedCheck check{};
    };
    void prepare(Call& call, std::string_view key, std::span<const RatePlan> plans, std::int64_t tokens);
    // A number of its own for each of as many names as a PlanBook may know; beyond that they share one.
    std::uint32_t number_of_plan(std::string_view name);

    OwnedStore local_;
    FailPolicy policy_;
    std::mutex mutex_;
    std::map<std::string, std::uint32_t, std::less<>> numbers_;  // Guarded by mutex_.
};

}  // namespace sluice
