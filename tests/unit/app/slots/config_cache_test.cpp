#include "app/slots/config_cache.hpp"

#include <gtest/gtest.h>

#include "support/counting_metrics.hpp"
#include "support/hand_clock.hpp"
#include "support/recording_log.hpp"
#include "support/slot_words.hpp"

namespace sluice {
namespace {

using namespace test;

class ConfigCacheTest : public testing::Test {
protected:
    static ConfigRef version(std::uint32_t id, std::string_view name = "a") {
        return std::make_shared<const ConfigVersion>(ConfigVersion{ConfigId{id}, draft(name, 5, 1s), kNoon});
    }

    ConfigRef get(std::string_view name = "a") {
        return cache_.get(config(name), [this](const ConfigName&) {
            ++loads_;
            return stored_;
        });
    }

    HandClock clock_{kNoon};
    CountingMetrics metrics_;
    RecordingLog log_;
    ConfigCache cache_{5s, clock_, metrics_, log_};
    ConfigRef stored_ = version(1);
    int loads_ = 0;
};

TEST_F(ConfigCacheTest, LoadsAConfigOnceWithinItsTimeToLive) {
    get();
    clock_.advance(4999ms);
    const ConfigRef second = get();

    EXPECT_EQ(second, stored_);
    EXPECT_EQ(loads_, 1);
    EXPECT_EQ(metrics_.misses, 1U);
    EXPECT_EQ(metrics_.hits, 1U);
}

TEST_F(ConfigCacheTest, LoadsAgainWhenTheTimeToLiveIsOver) {
    get();
    stored_ = version(2);
    clock_.advance(5s);

    EXPECT_EQ(get()->id, ConfigId{2});
    EXPECT_EQ(metrics_.misses, 2U);
    EXPECT_EQ(metrics_.hits, 0U);
}

TEST_F(ConfigCacheTest, DoesNotProlongALifeByAHit) {
    get();
    clock_.advance(4s);
    get();
    clock_.advance(1s);
    get();

    EXPECT_EQ(loads_, 2);
}

TEST_F(ConfigCacheTest, LoadsAgainAfterAFlush) {
    get();
    stored_ = version(2);

    cache_.flush();

    EXPECT_EQ(get()->id, ConfigId{2});
}

TEST_F(ConfigCacheTest, LoadsAgainWhenTheClockStepsBack) {
    get();
    stored_ = version(2);
    clock_.advance(-1h);

    EXPECT_EQ(get()->id, ConfigId{2});
    EXPECT_EQ(get()->id, ConfigId{2});
    EXPECT_EQ(loads_, 2) << "an hour's step costs one more load, not one for every request of that hour";
}

TEST_F(ConfigCacheTest, ShowsWhatWasPutAtOnceAndForATimeToLiveFromThen) {
    get();
    clock_.advance(3s);

    cache_.put(version(9));
    EXPECT_EQ(get()->id, ConfigId{9});

    clock_.advance(4999ms);
    EXPECT_EQ(get()->id, ConfigId{9});
    EXPECT_EQ(loads_, 1);
}

TEST_F(ConfigCacheTest, RemembersNothingOfAConfigThatDoesNotExist) {
    stored_ = nullptr;

    EXPECT_EQ(get("b"), nullptr);
    EXPECT_EQ(get("b"), nullptr);

    EXPECT_EQ(loads_, 2);
    EXPECT_TRUE(log_.lines().empty());
}

TEST_F(ConfigCacheTest, KeepsConfigsApartByName) {
    const ConfigRef first = get("a");
    stored_ = version(2, "b");

    EXPECT_EQ(get("b")->id, ConfigId{2});
    EXPECT_EQ(get("a"), first);
}

TEST_F(ConfigCacheTest, WritesALineForEveryMiss) {
    get();
    get();

    EXPECT_EQ(log_.lines(), std::vector<std::string>{
                                "INFO RateLimitConfigRepository - Config cache miss for a, loaded from DB"});
}

}  // namespace
}  // namespace sluice
