#include "contract/limit_store_contract.hpp"
#include "store/memory/memory_limit_store.hpp"
#include "support/hand_moment_clock.hpp"

namespace sluice::test {
namespace {

class MemoryUnderTest final : public LimitStoreUnderTest {
public:
    LimitStore& store() override { return *store_; }
    void set_clock(Moment now) override { clock_.set(now); }

private:
    HandMomentClock clock_{kMidnight};
    std::unique_ptr<LimitStore> store_ = make_memory_limit_store({.keys_max = 100'000, .seed = 1}, clock_);
};

INSTANTIATE_TEST_SUITE_P(Stores, LimitStoreContract,
                         testing::Values(LimitStoreKind{"Memory",
                                                        [] { return std::make_unique<MemoryUnderTest>(); }}),
                         [](const auto& kind) { return kind.param.name; });

}  // namespace
}  // namespace sluice::test
