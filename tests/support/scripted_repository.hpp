#pragma once

#include <sluice/rate_limiter_repository.hpp>

namespace sluice::test {

// Answers what a test wants, and cannot do anything else.
class ScriptedRepository final : public RateLimiterRepository {
public:
    Result<Acquisition, RepositoryError> answer = Acquisition{};

    Result<Acquisition, RepositoryError> try_acquire(std::string_view /*key*/,
                                                     std::span<const RatePlan> /*plans*/,
                                                     std::int64_t /*tokens*/) override {
        return answer;
    }
};

}  // namespace sluice::test
