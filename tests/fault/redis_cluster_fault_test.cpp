#include <algorithm>
#include <csignal>
#include <set>
#include <sstream>

#include <gmock/gmock.h>

#include "store/redis/client/cluster_slot.hpp"
#include "store/redis/limits/state_keys.hpp"
#include "support/redis_load.hpp"

namespace sluice::test {
namespace {

class RedisClusterFault : public testing::Test {
protected:
    void SetUp() override { SLUICE_NEEDS_REDIS("SLUICE_TEST_REDIS_CLUSTER"); }
};

TEST_F(RedisClusterFault, RefusesChecksOverKeysThatLieApart) {
    const std::string address = redis_address("SLUICE_TEST_REDIS_CLUSTER");
    flush(address);
    const auto store = open_limits(patient(address));
    const std::array apart{Check{"a", kHotOnly, 1}, Check{"b", kHotOnly, 1}};
    const std::array together{Check{"a", kHotOnly, 1}};

    EXPECT_EQ(store->take_together(apart).error(), LimitFault::Apart);
    EXPECT_EQ(take(*store, "a", kHotOnly, 0)->remaining, 20'000);
    EXPECT_TRUE(store->take_together(together)->allowed);
    EXPECT_EQ(take(*store, "a", kBoth)->remaining, 19'998);
}

// What a node believes: the number, epoch and slots of each, without its own state.
std::vector<std::string> belief_of(RawRedis& node) {
    std::vector<std::string> belief;
    std::istringstream lines{node.text({"CLUSTER", "NODES"})};
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words{line};
        std::vector<std::string> fields;
        for (std::string word; words >> word;) {
            fields.push_back(word);
        }
        std::string known = fields.at(0) + " " + fields.at(6);
        for (std::size_t i = 8; i < fields.size(); ++i) {
            known += " " + fields[i];
        }
        belief.push_back(known);
    }
    std::sort(belief.begin(), belief.end());
    return belief;
}

// Until they agree: a slot that moves back before gossip has spread its new owner can be taken from that
// owner by an older word, with its keys. No client can help that.
void await_agreement(const std::vector<redis::Endpoint>& nodes) {
    await([&] {
        std::set<std::vector<std::string>> beliefs;
        for (const redis::Endpoint& node : nodes) {
            RawRedis raw{node};
            beliefs.insert(belief_of(raw));
        }
        return beliefs.size() == 1;
    });
}

// Moves the slot of "k" to another node: import, migrate, keys one by one, and the new owner.
void move_slot(const std::string& slot, RawRedis& from, RawRedis& to) {
    const std::string from_id = from.text({"CLUSTER", "MYID"});
    const std::string to_id = to.text({"CLUSTER", "MYID"});
    to.ask({"CLUSTER", "SETSLOT", slot, "IMPORTING", from_id});
    from.ask({"CLUSTER", "SETSLOT", slot, "MIGRATING", to_id});
    for (const std::string name : {"rate_limiter:beside:{k}", "rate_limiter:hot:{k}"}) {
        from.ask({"MIGRATE", to.server().host, std::to_string(to.server().port), name, "0", "10000"});
    }
    to.ask({"CLUSTER", "SETSLOT", slot, "NODE", to_id});
    from.ask({"CLUSTER", "SETSLOT", slot, "NODE", to_id});
}

TEST_F(RedisClusterFault, LosesAndDoublesNothingWhileASlotMoves) {
    const OwnRedis own{"redis-cluster"};
    const auto nodes = redis::parse_redis_address(own.address())->nodes;
    const auto store = open_limits(patient(own.address()));
    const std::uint16_t slot = redis::slot_of("k");
    const std::size_t owner = slot < 5'461 ? 0 : slot < 10'923 ? 1 : 2;
    RawRedis here{nodes[owner]};
    RawRedis there{nodes[(owner + 1) % 3]};
    int moves = 0;

    Load load{{.stores = {store.get()}}};
    for (; moves < 2 || load.so_far().denied == 0; ++moves) {
        move_slot(std::to_string(slot), moves % 2 == 0 ? here : there, moves % 2 == 0 ? there : here);
        await_agreement(nodes);
    }
    const Counts counts = load.stop();

    EXPECT_EQ(counts.faults, 0);
    EXPECT_EQ(counts.admitted, 20'000);
}

// Keys in the first slots, which the first master has.
std::vector<std::string> keys_below(std::uint16_t slot, std::size_t count) {
    std::vector<std::string> keys;
    for (int i = 0; keys.size() < count; ++i) {
        if (std::string key = "k" + std::to_string(i); redis::slot_of(key) < slot) {
            keys.push_back(std::move(key));
        }
    }
    return keys;
}

// As operators do it. The tool moves the first slots of a node.
TEST_F(RedisClusterFault, LosesAndDoublesNothingWhileSlotsAreResharded) {
    const OwnRedis own{"redis-cluster"};
    const auto nodes = redis::parse_redis_address(own.address())->nodes;
    const auto store = open_limits(patient(own.address()));
    const auto keys = keys_below(100, 4);
    RawRedis from{nodes[0]};
    RawRedis to{nodes[1]};

    Load load{{{store.get()}, 8, keys}};
    load.await([](const Counts& counts) { return counts.admitted >= 2'000; });
    run_command("redis-cli --cluster reshard " + nodes[0].text() + " --cluster-from " +
                from.text({"CLUSTER", "MYID"}) + " --cluster-to " + to.text({"CLUSTER", "MYID"}) +
                " --cluster-slots 100 --cluster-yes");
    const Tokens meanwhile = load.so_far().admitted;
    load.await([](const Counts& counts) { return counts.denied > 0 && counts.admitted >= 4 * 20'000; });
    const Counts counts = load.stop();

    EXPECT_GT(meanwhile, 2'000);
    EXPECT_EQ(counts.faults, 0);
    EXPECT_EQ(counts.admitted, 4 * 20'000);
    EXPECT_EQ(to.integer({"EXISTS", redis::state_key("hot", keys[0])}), 1);
}

// The replica of the first master takes over. How much is forgotten then is measured here, and printed.
TEST_F(RedisClusterFault, FollowsTheReplicaOfAMasterThatIsKilledUnderLoad) {
    const OwnRedis own{"redis-cluster"};
    RedisOptions options = patient(own.address());
    options.timeout = 500ms;
    const auto one = open_limits(options);
    const auto other = open_limits(options);
    const pid_t master = RawRedis{own.address()}.process();

    const Tokens lost =
        lost_by_failover({one.get(), other.get()}, keys_below(5'461, 1)[0], [&] { ::kill(master, SIGKILL); });

    RecordProperty("lost", std::to_string(lost));
}

}  // namespace
}  // namespace sluice::test
