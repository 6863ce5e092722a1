#include "contract/limit_store_contract.hpp"
#include "support/redis_fixture.hpp"

namespace sluice::test {
namespace {

class RedisUnderTest final : public LimitStoreUnderTest {
public:
    explicit RedisUnderTest(const std::string& address) {
        flush(address);
        store_ = open_limits(patient(address), clock_);
    }

    LimitStore& store() override { return *store_; }
    void set_clock(Moment now) override { clock_.set(now); }

private:
    HandMomentClock clock_{kMidnight};
    std::unique_ptr<LimitStore> store_;
};

LimitStoreKind kind(const std::string& name, const char* variable) {
    constexpr std::uint64_t kRoundTrips = 20;  // RedisScriptDifferential has the long histories.
    return {name,
            [variable]() -> std::unique_ptr<LimitStoreUnderTest> {
                const std::string address = redis_address(variable);
                return address.empty() ? nullptr : std::make_unique<RedisUnderTest>(address);
            },
            kRoundTrips};
}

INSTANTIATE_TEST_SUITE_P(Redis, LimitStoreContract,
                         testing::Values(kind("Single", "SLUICE_TEST_REDIS"),
                                         kind("Cluster", "SLUICE_TEST_REDIS_CLUSTER"),
                                         kind("Sentinel", "SLUICE_TEST_REDIS_SENTINEL")),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace sluice::test
