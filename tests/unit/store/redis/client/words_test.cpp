#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/redis/client/cluster_slot.hpp"
#include "store/redis/client/redis_address.hpp"
#include "store/redis/limits/state_keys.hpp"

namespace sluice::redis {
namespace {

RedisAddress good(std::string_view text) {
    auto parsed = parse_redis_address(text);
    return parsed ? *parsed : throw std::runtime_error{parsed.error()};
}

TEST(RedisAddressTest, ReadsAHostAndAPort) {
    const RedisAddress address = good("cache.example:6379");

    EXPECT_EQ(address.deployment, Deployment::Single);
    EXPECT_THAT(address.nodes, testing::ElementsAre(Endpoint{"cache.example", 6379}));
    EXPECT_FALSE(address.tls);
    EXPECT_EQ(good("redis://[::1]:7/").nodes[0], (Endpoint{"::1", 7}));
    EXPECT_EQ((Endpoint{"::1", 7}.text()), "[::1]:7");
}

TEST(RedisAddressTest, ReadsUserPasswordAndTls) {
    const RedisAddress address = good("rediss://anna:p%40ss%3Aw%25rd@h:6380");

    EXPECT_EQ(address.user, "anna");
    EXPECT_EQ(address.password, "p@ss:w%rd");
    EXPECT_TRUE(address.tls);
    EXPECT_EQ(good("redis://:secret@h:1").user, "");
    EXPECT_EQ(good("redis://:secret@h:1").password, "secret");
}

TEST(RedisAddressTest, ReadsSentinelsAndClusters) {
    const RedisAddress sentinels = good("redis+sentinel://a:1,b:2/main");
    const RedisAddress cluster = good("redis+cluster+tls://:pw@a:1,b:2");

    EXPECT_EQ(sentinels.deployment, Deployment::Sentinel);
    EXPECT_EQ(sentinels.master, "main");
    EXPECT_THAT(sentinels.nodes, testing::ElementsAre(Endpoint{"a", 1}, Endpoint{"b", 2}));
    EXPECT_EQ(cluster.deployment, Deployment::Cluster);
    EXPECT_TRUE(cluster.tls);
    EXPECT_EQ(cluster.password, "pw");
}

TEST(RedisAddressTest, RefusesWhatItDoesNotUnderstandAndNeverShowsThePassword) {
    for (const std::string_view text : {"",
                                        "host",
                                        "host:",
                                        "host:0",
                                        "host:65536",
                                        "host:1x",
                                        ":1",
                                        "a b:1",
                                        "host:1,other:2",
                                        "http://h:1",
                                        "redis://h:1/2",
                                        "redis://h:1,i:2",
                                        "redis://user:hush@",
                                        "redis://user:hush@h",
                                        "redis://user@h:1",
                                        "redis://us%er:hush@h:1",
                                        "redis://u:hu%2@h:1",
                                        "user:hush@h:1",
                                        "redis+sentinel://h:1",
                                        "redis+sentinel://h:1/",
                                        "redis+sentinel://h:1/a/b",
                                        "redis+cluster://h:1,",
                                        "redis+cluster://h:1/x"}) {
        const auto parsed = parse_redis_address(text);

        ASSERT_FALSE(parsed) << text;
        EXPECT_FALSE(parsed.error().empty());
        EXPECT_EQ(parsed.error().find("hush"), std::string::npos) << parsed.error();
    }
}

TEST(StateKeys, EncodesWhatWouldBreakTheHashTag) {
    EXPECT_EQ(state_key("gold", "user1"), "rate_limiter:gold:{user1}");
    EXPECT_EQ(state_key("a:b", "{x}%7B"), "rate_limiter:a:b:{%7Bx%7D%257B}");
}

// As `CLUSTER KEYSLOT` says.
TEST(StateKeys, KnowsTheSlotOfAKey) {
    EXPECT_EQ(slot_of("123456789"), 12739);
    EXPECT_EQ(slot_of("foo"), 12182);
    EXPECT_EQ(slot_of("x{foo}y"), 12182);
    EXPECT_EQ(slot_of("{foo}{bar}"), 12182);
    EXPECT_NE(slot_of("{}foo"), 12182);
    EXPECT_EQ(slot_of(state_key("gold", "foo")), slot_of(state_key("daily", "foo")));
    EXPECT_EQ(slot_of(state_key("gold", "foo")), 12182);
}

}  // namespace
}  // namespace sluice::redis
