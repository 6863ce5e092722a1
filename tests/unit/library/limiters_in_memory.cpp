#include <sluice/repositories.hpp>

#include "contract/rate_limiter_contract.hpp"

namespace sluice::test {
namespace {

std::unique_ptr<LimiterUnderTest> over_memory(MissingPlan missing) {
    return limiter_over(make_memory_repository({.keys_max = 1'000}), missing);
}

std::unique_ptr<LimiterUnderTest> of_file(MissingPlan missing) {
    return limiter_of_file("limits: {keysMax: 1000}\n", missing);
}

INSTANTIATE_TEST_SUITE_P(Memory, RateLimiterContract,
                         testing::Values(LimiterKind{"Repository", over_memory},
                                         LimiterKind{"File", of_file}),
                         [](const auto& kind) { return kind.param.name; });

}  // namespace
}  // namespace sluice::test
