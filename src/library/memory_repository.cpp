#include <array>
#include <random>

#include <sluice/rate_limiter.hpp>

#include "store/memory/fast_clock.hpp"
#include "store/memory/memory_limit_store.hpp"

namespace sluice {
namespace {

std::uint64_t fresh_seed() {
    std::random_device device;
    return std::uint64_t{device()} << 32U | device();
}

class MemoryRepository final : public RateLimiterRepository {
public:
    explicit MemoryRepository(const MemoryRepositoryOptions& options)
        : clock_{make_fast_clock()},
          store_{make_memory_limit_store({.keys_max = options.keys_max, .seed = fresh_seed()}, *clock_)} {}

    Result<Acquisition, RepositoryError> try_acquire(std::string_view key, std::span<const RatePlan> plans,
                                                     std::int64_t tokens) override {
        if (plans.size() > kPlansPerCheckMax) {
            return Unexpected{RepositoryError::Invalid};
        }
        std::array<const Plan*, kPlansPerCheckMax> rules{};
        for (std::size_t i = 0; i < plans.size(); ++i) {
            rules[i] = &plans[i].rule();
        }
        const Check check{key, {rules.data(), plans.size()}, tokens};
        CheckOutcome outcome = Verdict{};
        store_->take({&check, 1}, {&outcome, 1});
        if (!outcome) {
            return Unexpected{is_caller_s(outcome.error()) ? RepositoryError::Invalid
                                                           : RepositoryError::Unavailable};
        }
        return Acquisition{outcome->allowed, outcome->shadowed, outcome->plan, outcome->remaining,
                           outcome->retry_after};
    }

private:
    static bool is_caller_s(LimitFault fault) { return fault <= LimitFault::InvalidCost; }

    std::unique_ptr<MomentClock> clock_;
    std::unique_ptr<MemoryLimitStore> store_;
};

}  // namespace

std::unique_ptr<RateLimiterRepository> make_memory_repository(const MemoryRepositoryOptions& options) {
    return std::make_unique<MemoryRepository>(options);
}

}  // namespace sluice
