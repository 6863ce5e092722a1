#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <iostream>
#include <set>
#include <sstream>
#include <thread>

#include <gmock/gmock.h>

#include "store/redis/state_keys.hpp"
#include "support/limit_words.hpp"
#include "support/redis_fixture.hpp"

namespace sluice::test {
namespace {

const Plan kHot = plan("hot", bucket(2'000, 1, 1h));
const Plan kBeside = plan("beside", aligned(1'000'000, 24h));
const std::array kHotOnly{&kHot};
const std::array<const Plan*, 2> kBoth{&kBeside, &kHot};

CheckOutcome take(LimitStore& store, std::string_view key, std::span<const Plan* const> plans,
                  Tokens cost = 1) {
    const Check check{key, plans, cost};
    CheckOutcome outcome = Verdict{};
    store.take({&check, 1}, {&outcome, 1});
    return outcome;
}

// Asks until it gets an answer; the patience of a test on a busy machine.
CheckOutcome take_at_last(LimitStore& store, std::string_view key, std::span<const Plan* const> plans,
                          Tokens cost = 1) {
    const auto deadline = std::chrono::steady_clock::now() + 60s;
    CheckOutcome outcome = Unexpected{LimitFault::Unavailable};
    while (!outcome && std::chrono::steady_clock::now() < deadline) {
        outcome = take(store, key, plans, cost);
    }
    return outcome;
}

struct Counts {
    Tokens admitted = 0;
    Tokens denied = 0;
    Tokens faults = 0;
};

// Clients that take one by one, by batches of 8, each until it has asked `turns` times; `trouble` meanwhile,
// and at least so often.
template <class Trouble>
Counts under_load(const std::vector<LimitStore*>& stores, int clients, int turns, Trouble trouble,
                  int troubles_min = 0) {
    std::atomic<int> troubles{0};
    std::atomic<Tokens> admitted{0};
    std::atomic<Tokens> denied{0};
    std::atomic<Tokens> faults{0};
    std::atomic<int> working{clients};
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < clients; ++i) {
            threads.emplace_back([&, &store = *stores[static_cast<std::size_t>(i) % stores.size()]] {
                std::vector<Check> checks(8, Check{"k", kHotOnly, 1});
                checks[3].plans = kBoth;
                std::vector<CheckOutcome> outcomes(checks.size(), Verdict{});
                for (int turn = 0; turn < turns || troubles < troubles_min; ++turn) {
                    store.take(checks, outcomes);
                    for (const CheckOutcome& outcome : outcomes) {
                        ++(!outcome ? faults : outcome->allowed ? admitted : denied);
                    }
                }
                --working;
            });
        }
        while (working > 0) {
            trouble();
            ++troubles;
        }
    }
    return {admitted, denied, faults};
}

class RedisFault : public testing::Test {
protected:
    void SetUp() override {
        SLUICE_NEEDS_REDIS("SLUICE_TEST_REDIS");
        address_ = redis_address("SLUICE_TEST_REDIS");
        flush(address_);
    }

    std::string address_;
};

TEST_F(RedisFault, SixtyFourClientsOfTwoNodesGetExactlyWhatIsLeft) {
    const auto one = open_limits(patient(address_));
    const auto other = open_limits(patient(address_));

    const Counts counts = under_load({one.get(), other.get()}, 64, 10, [] { std::this_thread::yield(); });

    EXPECT_EQ(counts.admitted, 2'000);
    EXPECT_EQ(counts.faults, 0);
    EXPECT_EQ(counts.denied, 64 * 10 * 8 - 2'000);
}

TEST_F(RedisFault, LoadsItsScriptAgainWhenTheServerHasForgottenIt) {
    const auto store = open_limits(patient(address_));
    RawRedis raw{address_};

    const Counts counts = under_load({store.get()}, 8, 60, [&] { raw.ask({"SCRIPT", "FLUSH"}); });

    EXPECT_EQ(counts.admitted, 2'000);
    EXPECT_EQ(counts.faults, 0);
}

TEST_F(RedisFault, BeginsAnewWhenTheServerHasForgottenAll) {
    const auto store = open_limits(patient(address_));
    ASSERT_EQ(take(*store, "k", kHotOnly, 2'000)->remaining, 0);

    flush(address_);

    EXPECT_EQ(take(*store, "k", kHotOnly, 500)->remaining, 1'500);
}

TEST_F(RedisFault, DecidesSeveralKeysAsOneOrNone) {
    const auto store = open_limits(patient(address_));
    const std::array checks{Check{"rich", kHotOnly, 1}, Check{"poor", kHotOnly, 2}};
    ASSERT_TRUE(take(*store, "poor", kHotOnly, 1'999));

    const auto denied = store->take_together(checks);
    EXPECT_FALSE(denied->allowed);
    EXPECT_EQ(denied->plan, 1U);
    EXPECT_EQ(take(*store, "rich", kHotOnly, 0)->remaining, 2'000);

    ASSERT_TRUE(store->reset("poor", kHotOnly));
    EXPECT_TRUE(store->take_together(checks)->allowed);
    EXPECT_EQ(take(*store, "rich", kHotOnly, 0)->remaining, 1'999);
    EXPECT_EQ(take(*store, "poor", kHotOnly, 0)->remaining, 1'998);
}

// A pause makes replies late: what was given up must not be taken for an answer to what comes after.
TEST_F(RedisFault, GivesUpAtTheTimeOutAndNeverMixesUpLateReplies) {
    const OwnRedis own{"redis"};
    RedisOptions options = patient(own.address());
    options.timeout = 50ms;
    const auto store = open_limits(options);
    const Plan small = plan("small", bucket(7, 1, 1h));
    const std::array small_only{&small};
    ASSERT_TRUE(take_at_last(*store, "k", kHotOnly));
    RawRedis raw{own.address()};

    raw.ask({"CLIENT", "PAUSE", "1000", "ALL"});
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(take(*store, "k", kHotOnly).error(), LimitFault::Unavailable);
    const auto waited = std::chrono::steady_clock::now() - start;

    EXPECT_GE(waited, 50ms);
    EXPECT_LT(waited, 900ms);
    const CheckOutcome after = take_at_last(*store, "k", small_only, 0);
    EXPECT_EQ(after->limit, 7);
    EXPECT_EQ(after->remaining, 7);
}

TEST_F(RedisFault, ComesBackByItselfAfterAKillAndAdmitsNoMoreThanIsLeft) {
    OwnRedis own{"redis"};
    RedisOptions options = patient(own.address());
    options.timeout = 500ms;
    const auto store = open_limits(options);
    ASSERT_TRUE(take_at_last(*store, "k", kHotOnly));
    bool killed = false;

    Counts counts = under_load({store.get()}, 4, 200, [&] {
        if (!std::exchange(killed, true)) {
            own.kill();
            own.revive();
        }
    });

    EXPECT_GT(counts.faults, 0);
    counts.admitted += 1;
    EXPECT_LE(counts.admitted, 2'000);
    // What had no answer may have been charged or not; the rest is all there.
    const Tokens left = take_at_last(*store, "k", kHotOnly, 0)->remaining;
    EXPECT_LE(counts.admitted + left, 2'000);
    EXPECT_GE(counts.admitted + left, 2'000 - counts.faults);
}

TEST_F(RedisFault, SaysAtOnceThatAServerIsAway) {
    OwnRedis own{"redis"};
    RedisOptions options = patient(own.address());
    const auto store = open_limits(options);
    own.kill();
    while (take(*store, "k", kHotOnly)) {
    }

    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 100; ++i) {
        EXPECT_EQ(take(*store, "k", kHotOnly).error(), LimitFault::Unavailable);
    }
    EXPECT_LT(std::chrono::steady_clock::now() - start, options.timeout);
}

class RedisSentinelFault : public testing::Test {
protected:
    void SetUp() override { SLUICE_NEEDS_REDIS("SLUICE_TEST_REDIS_SENTINEL"); }
};

TEST_F(RedisSentinelFault, FollowsTheMasterAfterAKill) {
    const OwnRedis own{"redis-sentinel"};
    RedisOptions options = patient(own.address());
    options.timeout = 500ms;
    const auto store = open_limits(options);
    ASSERT_TRUE(take_at_last(*store, "k", kHotOnly, 1'500));
    RawRedis master{own.address()};
    // WAIT speaks of the writes of its own connection, and of all that came before.
    master.ask({"SET", "marker", "1"});
    ASSERT_EQ(master.integer({"WAIT", "1", "30000"}), 1);

    ::kill(std::stoi(master.info("server", "process_id")), SIGKILL);
    const CheckOutcome after = take_at_last(*store, "k", kHotOnly, 400);

    ASSERT_TRUE(after);
    EXPECT_EQ(after->remaining, 100) << "what had reached the replica is still charged";
    EXPECT_FALSE(take(*store, "k", kHotOnly, 101)->allowed);
}

// Replication is asynchronous: how much a failover forgets is measured here, and printed.
TEST_F(RedisSentinelFault, AdmitsNoMoreThanIsLeftAndWhatReplicationHasLost) {
    const OwnRedis own{"redis-sentinel"};
    RedisOptions options = patient(own.address());
    options.timeout = 500ms;
    const auto store = open_limits(options);
    RawRedis master{own.address()};
    const pid_t pid = std::stoi(master.info("server", "process_id"));
    std::atomic<Tokens> admitted{0};
    {
        const std::jthread client{[&](const std::stop_token& stop) {
            while (!stop.stop_requested()) {
                const CheckOutcome outcome = take(*store, "k", kHotOnly);
                admitted += outcome && outcome->allowed ? 1 : 0;
            }
        }};
        while (admitted < 500) {
            std::this_thread::yield();
        }
        ::kill(pid, SIGKILL);
    }

    const Tokens left = take_at_last(*store, "k", kHotOnly, 0)->remaining;
    const Tokens lost = admitted - (2'000 - left);
    std::cout << "a failover lost " << lost << " of " << admitted << " charges\n";
    RecordProperty("lost", std::to_string(lost));
    Tokens after = 0;
    while (take_at_last(*store, "k", kHotOnly)->allowed) {
        ++after;
    }
    EXPECT_EQ(after, left);
    EXPECT_LE(lost, admitted.load());
}

TEST_F(RedisSentinelFault, FollowsAMasterThatIsReplacedUnderLoad) {
    const OwnRedis own{"redis-sentinel"};
    RedisOptions options = patient(own.address());
    options.timeout = 2s;
    const auto store = open_limits(options);
    const redis::Endpoint before = RawRedis::server_of(own.address());
    RawRedis sentinel{redis::parse_redis_address(own.address())->nodes[0]};
    ASSERT_EQ(sentinel.text({"SENTINEL", "FAILOVER", "main"}), "OK");

    std::atomic<Tokens> answered{0};
    const auto deadline = std::chrono::steady_clock::now() + 60s;
    while (RawRedis::server_of(own.address()) == before && std::chrono::steady_clock::now() < deadline) {
        answered += take(*store, "k", kHotOnly).has_value() ? 1 : 0;
    }
    RawRedis now{own.address()};
    ASSERT_NE(now.server(), before);
    EXPECT_GT(answered.load(), 0);
    // The old master goes on for seconds as if nothing had happened; checks must not stay there.
    while (now.integer({"EXISTS", "rate_limiter:hot:{other}"}) == 0 &&
           std::chrono::steady_clock::now() < deadline) {
        ASSERT_TRUE(take_at_last(*store, "other", kHotOnly));
    }
    EXPECT_LT(std::chrono::steady_clock::now(), deadline);
}

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
    EXPECT_EQ(take(*store, "a", kHotOnly, 0)->remaining, 2'000);
    EXPECT_TRUE(store->take_together(together)->allowed);
    EXPECT_EQ(take(*store, "a", kBoth)->remaining, 1'998);
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
    const auto deadline = std::chrono::steady_clock::now() + 60s;
    for (;;) {
        std::set<std::vector<std::string>> beliefs;
        for (const redis::Endpoint& node : nodes) {
            RawRedis raw{node};
            beliefs.insert(belief_of(raw));
        }
        if (beliefs.size() == 1) {
            return;
        }
        ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "the nodes do not agree";
        std::this_thread::sleep_for(10ms);  // Between two looks.
    }
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

    const Counts counts = under_load(
        {store.get()}, 4, 120,
        [&] {
            move_slot(std::to_string(slot), moves % 2 == 0 ? here : there, moves % 2 == 0 ? there : here);
            await_agreement(nodes);
            ++moves;
        },
        2);

    EXPECT_GE(moves, 2);
    EXPECT_EQ(counts.faults, 0);
    EXPECT_EQ(counts.admitted, 2'000);
}

}  // namespace
}  // namespace sluice::test
