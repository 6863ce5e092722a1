#pragma once

#include <stdexcept>

#include <sluice/rate_limiter_repository.hpp>

namespace sluice::test {

// Answers what a test wants, and cannot do anything else.
class ScriptedRepository final : public RateLimiterRepository {
public:
    Result<Acquisition, RepositoryError> answer = Acquisition{};
    bool throws = false;

    Result<Acquisition, RepositoryError> try_acquire(std::string_view /*key*/,
                                                     std::span<const RatePlan> /*plans*/,
                                                     std::int64_t /*tokens*/) override {
        return throws ? throw std::runtime_error{"broken"} : answer;
    }
    Result<void, RepositoryError> refund(std::string_view key, std::span<const RatePlan> plans,
                                         std::int64_t tokens) override {
        return throws ? throw 7 : RateLimiterRepository::refund(key, plans, tokens);
    }
};

}  // namespace sluice::test
