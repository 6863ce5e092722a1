#pragma once

#include <chrono>
#include <initializer_list>
#include <memory>
#include <span>
#include <type_traits>

#include <sluice/key_resolver.hpp>
#include <sluice/plan_registry.hpp>
#include <sluice/rate_limiter_repository.hpp>

namespace sluice {

enum class RateLimitReason : std::uint8_t {
    Ok,
    Denied,
    Shadow,       // Allowed, though a plan in shadow mode would have denied.
    FailOpen,     // Allowed, because the repository did not answer.
    FailClosed,   // Denied, because the repository did not answer.
    Local,        // Allowed or denied by this limiter alone, because the repository did not answer.
    MissingPlan,  // No plan decided: one is not known, see MissingPlan below.
    Contended,    // Denied, whatever the plans say of failures: others held the key for too long.
    Invalid,      // Denied: no plan, one of them twice, a bad key, or tokens that could never be had.
};

struct RateLimitResult {
    bool allowed = false;
    std::int64_t remaining = 0;  // Tokens that `plan` has left.
    // Denied by a plan: until the same call could be allowed. FailClosed and
    // Contended: when to try again. Never 0 then.
    std::chrono::microseconds wait{};
    RateLimitReason reason = RateLimitReason::Denied;
    std::string plan;         // The one that denied, is missing, or is the tightest.
    std::uint64_t lease = 0;  // Allowed by a concurrency plan: what to release. 0: nothing.
};

enum class RateLimitErrorKind : std::uint8_t { MissingPlan, Invalid, Full, Unsupported, Unavailable };

// Why something beside allow() was not done. After Unavailable it may have been.
struct RateLimitError {
    RateLimitErrorKind kind;
    std::string what;  // One sentence.
};

// Whether a key may go on.
// Thread safety: all of it.
class RateLimiter {
public:
    using PlanNames = std::span<const std::string_view>;
    using Names = std::initializer_list<std::string_view>;

    virtual ~RateLimiter() = default;

    // Takes tokens from all the plans, or from none. 0 tokens: only looks. Keys are 1 to 256 bytes of
    // anything.
    virtual RateLimitResult allow(std::string_view key, PlanNames plans, std::int64_t tokens) = 0;

    // Gives back what allow() took, never more than is charged now.
    virtual Result<void, RateLimitError> refund(std::string_view key, PlanNames plans,
                                                std::int64_t tokens) = 0;

    // Gives a lease that allow() returned back to a concurrency plan. False: it was not held any more.
    virtual Result<bool, RateLimitError> release(std::string_view key, std::string_view plan,
                                                 std::uint64_t lease) = 0;

    // Forgets what these plans hold against the key. Overrides stay. At least one plan.
    virtual Result<void, RateLimitError> reset(std::string_view key, PlanNames plans) = 0;

    // How the key stands with each of the plans, at least one. Charges nothing.
    virtual Result<std::vector<RateLimitStanding>, RateLimitError> inspect(std::string_view key,
                                                                           PlanNames plans) = 0;

    // Decides one key by another rule until it expires. That counts by itself and begins fresh; what the plan
    // itself had counted is there again afterwards.
    virtual Result<void, RateLimitError> put_override(std::string_view key,
                                                      const RateLimitOverride& instead) = 0;

    // What the plans say when nothing can be asked: as if the store did not answer, for a key that all such
    // calls share.
    virtual RateLimitResult unanswered(PlanNames plans, std::int64_t tokens) = 0;

    // allow() for the key of a request. A resolver that throws, or a source, is a failure of the store: the
    // plans' on_store_failure answers. A request without a key is denied: Invalid.
    RateLimitResult allow(const KeyResolver& keys, const RequestSource& source, Names plans,
                          std::int64_t tokens = 1);

    RateLimitResult allow(std::string_view key, Names plans, std::int64_t tokens = 1) {
        return allow(key, PlanNames{plans.begin(), plans.size()}, tokens);
    }
    Result<void, RateLimitError> refund(std::string_view key, Names plans, std::int64_t tokens = 1) {
        return refund(key, PlanNames{plans.begin(), plans.size()}, tokens);
    }
    Result<void, RateLimitError> reset(std::string_view key, Names plans) {
        return reset(key, PlanNames{plans.begin(), plans.size()});
    }
    Result<std::vector<RateLimitStanding>, RateLimitError> inspect(std::string_view key, Names plans) {
        return inspect(key, PlanNames{plans.begin(), plans.size()});
    }
};

// What a call gets that names a plan nobody knows.
enum class MissingPlan : std::uint8_t {
    Deny,   // Denied, and no plan is charged.
    Allow,  // The plan is left out; the others decide. Allowed where there is no other.
};

// Asks the repository by the caller's thread, for as long as the repository takes: it keeps no deadline;
// open_limiter() does. When the repository is Unavailable or Full, or throws, the plans answer: `closed`
// denies, `open` allows for five minutes and a million tokens of each plan in one outage, `local` lets this
// limiter decide alone. A key that is Contended is denied by all but plans in shadow mode. Throws
// std::bad_alloc if the memory for that cannot be had. Both must outlive the limiter.
std::unique_ptr<RateLimiter> make_rate_limiter(const PlanRegistry& plans, RateLimiterRepository& repository,
                                               MissingPlan missing = MissingPlan::Deny);

// Why a guarded callable did not run.
struct Denied {
    RateLimitResult result;
};

// Runs `callable` if the key may go on, and returns what it returns. A place under a concurrency plan is not
// given back by this: allow() tells the lease.
template <class Callable>
// NOLINTNEXTLINE(readability-function-size): whom, by what, how much, and what for.
auto limited(RateLimiter& limiter, std::string_view key, std::initializer_list<std::string_view> plans,
             std::int64_t tokens, Callable&& callable) -> Result<std::invoke_result_t<Callable>, Denied> {
    RateLimitResult result = limiter.allow(key, plans, tokens);
    if (!result.allowed) {
        return Unexpected{Denied{std::move(result)}};
    }
    if constexpr (std::is_void_v<std::invoke_result_t<Callable>>) {
        std::forward<Callable>(callable)();
        return {};
    } else {
        return std::forward<Callable>(callable)();
    }
}

}  // namespace sluice
