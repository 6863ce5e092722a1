#pragma once

#include <chrono>
#include <initializer_list>
#include <memory>
#include <span>
#include <type_traits>

#include <sluice/plan_registry.hpp>

namespace sluice {

enum class RateLimitReason : std::uint8_t {
    Ok,
    Denied,
    Shadow,       // Allowed, though a plan in shadow mode would have denied.
    FailOpen,     // Allowed, because the repository did not answer.
    FailClosed,   // Denied, because the repository did not answer.
    MissingPlan,  // No plan decided: one is not known, see MissingPlan below.
    Invalid,      // Denied: no plan, one of them twice, a bad key, or tokens that could never be had.
};

struct RateLimitResult {
    bool allowed = false;
    std::int64_t remaining = 0;        // Tokens that `plan` has left.
    std::chrono::microseconds wait{};  // Denied by a plan: until the same call could be allowed. Never 0.
    RateLimitReason reason = RateLimitReason::Denied;
    std::string plan;  // The one that denied, is missing, or is the tightest.
};

// How a call went that a repository decided.
struct Acquisition {
    bool allowed = false;
    bool shadowed = false;
    std::size_t plan = 0;  // Which of the plans speaks.
    std::int64_t remaining = 0;
    std::chrono::microseconds wait{};
};

enum class RepositoryError : std::uint8_t { Invalid, Unavailable };

// Where the state of keys is kept. All plans are charged or none is, whatever runs at the same time.
// Thread safety: all of it.
class RateLimiterRepository {
public:
    virtual ~RateLimiterRepository() = default;
    virtual Result<Acquisition, RepositoryError> try_acquire(std::string_view key,
                                                             std::span<const RatePlan> plans,
                                                             std::int64_t tokens) = 0;
};

// Whether a key may go on.
// Thread safety: all of it.
class RateLimiter {
public:
    virtual ~RateLimiter() = default;

    // Takes tokens from all the plans, or from none. 0 tokens: only looks. Keys are 1 to 256 bytes of
    // anything.
    virtual RateLimitResult allow(std::string_view key, std::span<const std::string_view> plans,
                                  std::int64_t tokens) = 0;

    RateLimitResult allow(std::string_view key, std::initializer_list<std::string_view> plans,
                          std::int64_t tokens = 1) {
        return allow(key, std::span{plans.begin(), plans.size()}, tokens);
    }
};

// What a call gets that names a plan nobody knows.
enum class MissingPlan : std::uint8_t {
    Deny,   // Denied, and no plan is charged.
    Allow,  // The plan is left out; the others decide. Allowed where there is no other.
};

// Both must outlive the limiter.
std::unique_ptr<RateLimiter> make_rate_limiter(const PlanRegistry& plans, RateLimiterRepository& repository,
                                               MissingPlan missing = MissingPlan::Deny);

struct MemoryRepositoryOptions {
    std::size_t keys_max = 1'000'000;  // Live keys; a new one is denied while there are as many.
};

// Keeps state as long as the process lives. Throws std::invalid_argument unless 1 <= keys_max <= 2^31, and
// std::bad_alloc if the memory cannot be had.
std::unique_ptr<RateLimiterRepository> make_memory_repository(const MemoryRepositoryOptions& options = {});

// Why a guarded callable did not run.
struct Denied {
    RateLimitResult result;
};

// Runs `callable` if the key may go on, and returns what it returns.
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
