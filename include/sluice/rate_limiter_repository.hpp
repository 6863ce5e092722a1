#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <vector>

#include <sluice/rate_plan.hpp>

namespace sluice {

// How a call went that a repository decided.
struct Acquisition {
    bool allowed = false;
    bool shadowed = false;
    std::size_t plan = 0;  // Which of the plans speaks.
    std::int64_t remaining = 0;
    std::chrono::microseconds wait{};
    // Allowed by a concurrency plan: what to release. 0: nothing. Never given twice, not even after a
    // restart.
    std::uint64_t lease = 0;
};

// How a key stands with one plan, as a call for one token would see it.
struct RateLimitStanding {
    std::string plan;
    bool allowed = false;
    std::int64_t limit = 0;
    std::int64_t remaining = 0;
    std::chrono::microseconds wait{};   // Denied: until one token could be had. Never 0.
    std::chrono::microseconds reset{};  // Until nothing is held against the key any more.
};

enum class RepositoryError : std::uint8_t {
    Invalid,      // No plan, one of them twice, a bad key, or tokens that could never be had.
    Full,         // No room for one more.
    Contended,    // Others held the key for too long; nothing was done, and trying again may help.
    Unsupported,  // This repository cannot do that.
    Unavailable,  // It cannot answer now; what was asked for may or may not have been done.
};

// Where the state of keys is kept. All plans are charged or none is, whatever runs at the same time. Only
// try_acquire() has to be implemented: whatever else a repository cannot do is Unsupported. A call that
// throws counts as Unavailable.
// Thread safety: all of it.
class RateLimiterRepository {
public:
    virtual ~RateLimiterRepository() = default;

    // 0 tokens: only looks.
    virtual Result<Acquisition, RepositoryError> try_acquire(std::string_view key,
                                                             std::span<const RatePlan> plans,
                                                             std::int64_t tokens) = 0;

    // Gives back what such a call took, never more than is charged now.
    virtual Result<void, RepositoryError> refund(std::string_view /*key*/,
                                                 std::span<const RatePlan> /*plans*/,
                                                 std::int64_t /*tokens*/) {
        return Unexpected{RepositoryError::Unsupported};
    }

    // Gives a lease of a concurrency plan back. False: it was not held any more.
    virtual Result<bool, RepositoryError> release(std::string_view /*key*/, const RatePlan& /*plan*/,
                                                  std::uint64_t /*lease*/) {
        return Unexpected{RepositoryError::Unsupported};
    }

    // Forgets what the plans hold against the key. Overrides stay.
    virtual Result<void, RepositoryError> reset(std::string_view /*key*/,
                                                std::span<const RatePlan> /*plans*/) {
        return Unexpected{RepositoryError::Unsupported};
    }

    // One standing for each plan, in their order.
    virtual Result<std::vector<RateLimitStanding>, RepositoryError> inspect(
        std::string_view /*key*/, std::span<const RatePlan> /*plans*/) {
        return Unexpected{RepositoryError::Unsupported};
    }

    // Decides the key by `plan`, which was made by RatePlan::overridden(), until then. It counts by itself:
    // what the plan of that name had counted is there again afterwards.
    virtual Result<void, RepositoryError> put_override(std::string_view /*key*/, const RatePlan& /*plan*/,
                                                       const RateLimitOverrideEnd& /*until*/) {
        return Unexpected{RepositoryError::Unsupported};
    }
};

}  // namespace sluice
