#include <map>
#include <mutex>

#include "contract/limit_store_contract.hpp"
#include "store/redis/client/cluster_slot.hpp"
#include "store/redis/limits/state_keys.hpp"
#include "support/redis_fixture.hpp"

namespace sluice::test {
namespace {

class RedisUnderTest : public LimitStoreUnderTest {
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

// A Cluster decides keys together that share a slot: some number behind each name brings it there.
class ClusterUnderTest final : public RedisUnderTest {
public:
    using RedisUnderTest::RedisUnderTest;

    std::string near(std::string_view name) override {
        if (name.empty() || name.size() + kNumberLengthMax > kLimitKeyBytesMax) {
            return std::string{name};  // No key at all.
        }
        const std::scoped_lock lock{mutex_};
        std::string& key = keys_[std::string{name}];
        for (std::uint64_t number = 1; key.empty() || slot(key) != slot("home"); ++number) {
            key = std::string{name} + "#" + std::to_string(number);
        }
        return key;
    }

private:
    static constexpr std::size_t kNumberLengthMax = 20;
    static std::uint16_t slot(std::string_view key) { return redis::slot_of(redis::state_key("any", key)); }

    std::mutex mutex_;
    std::map<std::string, std::string> keys_;  // By name. Guarded by mutex_.
};

template <class UnderTest>
LimitStoreKind kind(const std::string& name, const char* variable) {
    constexpr std::uint64_t kRoundTrips = 20;  // RedisScriptDifferential has the long histories.
    return {name,
            [variable]() -> std::unique_ptr<LimitStoreUnderTest> {
                const std::string address = redis_address(variable);
                return address.empty() ? nullptr : std::make_unique<UnderTest>(address);
            },
            kRoundTrips};
}

INSTANTIATE_TEST_SUITE_P(Redis, LimitStoreContract,
                         testing::Values(kind<RedisUnderTest>("Single", "SLUICE_TEST_REDIS"),
                                         kind<ClusterUnderTest>("Cluster", "SLUICE_TEST_REDIS_CLUSTER"),
                                         kind<RedisUnderTest>("Sentinel", "SLUICE_TEST_REDIS_SENTINEL")),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace sluice::test
