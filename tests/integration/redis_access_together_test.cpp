#include <csignal>

#include <gmock/gmock.h>

#include "store/redis/client/cluster_slot.hpp"
#include "support/redis_access.hpp"
#include "support/temp_folder.hpp"

namespace sluice::test {
namespace {

using testing::HasSubstr;

// redis+sentinel://HOSTS becomes redis+sentinel://IDENTITY@HOSTS.
std::string as(const std::string& identity, std::string address) {
    return address.insert(address.find("://") + 3, identity + "@");
}

// Sentinels with a master and a replica, or a Cluster: clients of all of them, from before anybody wanted a
// password.
std::vector<RawRedis> all_servers(const std::string& address) {
    std::vector<RawRedis> servers;
    const auto parsed = redis::parse_redis_address(address);
    if (parsed->deployment == redis::Deployment::Cluster) {
        for (const auto& node : parsed->nodes) {
            servers.emplace_back(node);
        }
    } else {
        servers.emplace_back(address);
    }
    servers.emplace_back(replica_of(servers[0]));
    return servers;
}

std::vector<RawRedis> all_sentinels(const std::string& address) {
    std::vector<RawRedis> sentinels;
    const auto parsed = redis::parse_redis_address(address);
    for (const auto& sentinel : parsed->nodes) {
        sentinels.emplace_back(sentinel);
    }
    return sentinels;
}

void want_password(std::vector<RawRedis>& servers) {
    for (RawRedis& server : servers) {
        server.ask({"CONFIG", "SET", "masterauth", "hush", "requirepass", "hush"});
    }
}

class RedisSentinelAccess : public testing::Test {
protected:
    void SetUp() override { SLUICE_NEEDS_REDIS("SLUICE_TEST_REDIS_SENTINEL"); }
};

TEST_F(RedisSentinelAccess, GivesThePasswordToServersAndToSentinelsThatWantIt) {
    const OwnRedis own{"redis-sentinel"};
    auto servers = all_servers(own.address());
    auto sentinels = all_sentinels(own.address());
    want_password(servers);
    for (RawRedis& sentinel : sentinels) {
        sentinel.ask({"SENTINEL", "SET", "main", "auth-pass", "hush"});
    }

    EXPECT_THAT(refusal(patient(own.address())), HasSubstr("wants a password"));
    EXPECT_EQ(left_after_one(patient(as(":hush", own.address()))), 9);

    for (RawRedis& sentinel : sentinels) {
        sentinel.ask({"ACL", "SETUSER", "default", "resetpass", ">hush"});
    }
    EXPECT_THAT(refusal(patient(own.address())), HasSubstr("wants a password"));
    EXPECT_THAT(refusal(patient(as(":other", own.address()))), HasSubstr("refuses the user or the password"));
    EXPECT_EQ(left_after_one(patient(as(":hush", own.address()))), 8);
}

// Also by the replica that takes over.
TEST_F(RedisSentinelAccess, ComesAsAUserWhoMayDoNoMoreThanItNeeds) {
    const OwnRedis own{"redis-sentinel"};
    auto servers = all_servers(own.address());
    auto sentinels = all_sentinels(own.address());
    for (RawRedis& server : servers) {
        server.ask(modest_user());
    }
    for (RawRedis& sentinel : sentinels) {
        sentinel.ask({"ACL", "SETUSER", "sluice", "on", ">hush", "+ping", "+sentinel|master",
                      "+sentinel|replicas", "+sentinel|get-master-addr-by-name"});
        sentinel.ask({"ACL", "SETUSER", "default", "off"});
    }
    const auto options = patient(as("sluice:hush", own.address()));
    EXPECT_EQ(left_after_one(options), 9);
    servers[0].ask({"SET", "marker", "1"});
    ASSERT_EQ(servers[0].integer({"WAIT", "1", "30000"}), 1);

    const auto store = open_limits(options);
    ::kill(servers[0].process(), SIGKILL);

    EXPECT_EQ(take_at_last(*store, "k", kGoldOnly)->remaining, 8);
}

TEST_F(RedisSentinelAccess, RefusesAMasterThatIsNone) {
    const OwnRedis own{"redis-sentinel"};
    RawRedis master{own.address()};

    master.ask({"REPLICAOF", "127.0.0.1", "1"});

    EXPECT_THAT(refusal(patient(own.address())), HasSubstr("is not a master"));
}

TEST_F(RedisSentinelAccess, SpeaksTlsToSentinelsAndServers) {
    const TempFolder folder;
    make_certificate(folder / "", "IP:127.0.0.1");
    const OwnRedis own{"redis-sentinel", folder / ""};
    RedisOptions options = patient(own.address());

    EXPECT_THAT(refusal(options), HasSubstr("cannot be reached")) << "nobody vouches for it";
    options.tls_ca_file = folder / "cert.pem";
    EXPECT_EQ(left_after_one(options), 9);
}

class RedisClusterAccess : public testing::Test {
protected:
    void SetUp() override { SLUICE_NEEDS_REDIS("SLUICE_TEST_REDIS_CLUSTER"); }
};

TEST_F(RedisClusterAccess, RefusesANodeThatIsNamedAsOneServer) {
    const auto nodes = redis::parse_redis_address(redis_address("SLUICE_TEST_REDIS_CLUSTER"))->nodes;

    for (const std::string scheme : {"", "redis://"}) {
        EXPECT_THAT(refusal(patient(scheme + nodes[0].text())),
                    testing::AllOf(HasSubstr("is a node of a Cluster"), HasSubstr("redis+cluster://")));
    }
}

TEST_F(RedisClusterAccess, GivesThePasswordToEveryNode) {
    const OwnRedis own{"redis-cluster"};
    auto servers = all_servers(own.address());
    want_password(servers);

    EXPECT_THAT(refusal(patient(own.address())), HasSubstr("wants a password"));
    for (const char* const key : {"a", "b", "c", "d", "e", "f"}) {
        EXPECT_EQ(left_after_one(patient(as(":hush", own.address())), key), 9);
    }
}

// Also where a slot is on its way.
TEST_F(RedisClusterAccess, ComesAsAUserWhoMayDoNoMoreThanItNeeds) {
    const OwnRedis own{"redis-cluster"};
    auto servers = all_servers(own.address());
    for (RawRedis& server : servers) {
        server.ask(modest_user({"+cluster|slots", "+asking"}));
        server.ask({"ACL", "SETUSER", "default", "off"});
    }
    const auto options = patient(as("sluice:hush", own.address()));

    EXPECT_THAT(refusal(patient(own.address())), HasSubstr("wants a password"));
    for (const char* const key : {"a", "b", "c", "d", "e", "f"}) {
        EXPECT_EQ(left_after_one(options, key), 9);
    }
    const std::uint16_t slot = redis::slot_of("on its way");
    RawRedis& from = servers[slot < 5'461 ? 0 : slot < 10'923 ? 1 : 2];
    RawRedis& to = servers[slot < 5'461 ? 1 : 0];
    to.ask({"CLUSTER", "SETSLOT", std::to_string(slot), "IMPORTING", from.text({"CLUSTER", "MYID"})});
    from.ask({"CLUSTER", "SETSLOT", std::to_string(slot), "MIGRATING", to.text({"CLUSTER", "MYID"})});
    EXPECT_EQ(left_after_one(options, "on its way"), 9);
    EXPECT_EQ(to.integer({"CLUSTER", "COUNTKEYSINSLOT", std::to_string(slot)}), 1);
}

TEST_F(RedisClusterAccess, SpeaksTlsToEveryNode) {
    const TempFolder folder;
    make_certificate(folder / "", "IP:127.0.0.1");
    const OwnRedis own{"redis-cluster", folder / ""};
    RedisOptions options = patient(own.address());

    EXPECT_THAT(refusal(options), HasSubstr("cannot be reached")) << "nobody vouches for it";
    options.tls_ca_file = folder / "cert.pem";
    for (const char* const key : {"a", "b", "c", "d", "e", "f"}) {
        EXPECT_EQ(left_after_one(options, key), 9);
    }
}

}  // namespace
}  // namespace sluice::test
