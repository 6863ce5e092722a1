#include <csignal>

#include <gmock/gmock.h>

#include "support/redis_load.hpp"
#include "support/tcp_proxy.hpp"

namespace sluice::test {
namespace {

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

    Load load{{{one.get(), other.get()}, 64}};
    load.await([](const Counts& counts) { return counts.denied > 2'000; });
    const Counts counts = load.stop();

    EXPECT_EQ(counts.admitted, 20'000);
    EXPECT_EQ(counts.faults, 0);
}

TEST_F(RedisFault, LoadsItsScriptAgainWhenTheServerHasForgottenIt) {
    const auto store = open_limits(patient(address_));
    RawRedis raw{address_};
    int flushes = 0;

    Load load{{{store.get()}, 8}};
    while (load.so_far().denied == 0) {
        raw.ask({"SCRIPT", "FLUSH"});
        ++flushes;
    }
    const Counts counts = load.stop();

    EXPECT_GT(flushes, 5);
    EXPECT_EQ(counts.admitted, 20'000);
    EXPECT_EQ(counts.faults, 0);
}

// All of a bucket is taken between two flushes, so that each must begin exactly one anew.
TEST_F(RedisFault, BeginsAnewWithEachFlushOfEverythingUnderLoad) {
    const auto store = open_limits(patient(address_));
    RawRedis raw{address_};

    Load load{{{store.get()}, 8}};
    for (Tokens flushes = 0; flushes < 3; ++flushes) {
        load.await([&](const Counts& counts) { return counts.admitted >= (flushes + 1) * 20'000; });
        raw.ask({"FLUSHALL"});
        raw.ask({"SCRIPT", "FLUSH"});
    }
    load.await([](const Counts& counts) { return counts.admitted >= 4 * 20'000; });
    const Counts counts = load.stop();

    EXPECT_EQ(counts.admitted, 4 * 20'000);
    EXPECT_EQ(counts.faults, 0);
}

// What is left of the bucket, in whole tokens, and nothing of it afterwards.
Tokens flush_what_is_left(RawRedis& raw) {
    const std::string script =
        "local left = struct.unpack('>d', redis.call('HGET', KEYS[1], 't'))\n"
        "redis.call('FLUSHALL')\n"
        "return math.floor(left / 3600000000)";  // A token is an hour of microseconds.
    return raw.integer({"EVAL", script, "1", "rate_limiter:hot:{k}"});
}

TEST_F(RedisFault, AdmitsExactlyWhatEachFlushOfEverythingBringsBack) {
    const auto store = open_limits(patient(address_));
    RawRedis raw{address_};
    Tokens lost = 0;

    Load load{{{store.get()}, 8}};
    for (int flushes = 0; flushes < 20; ++flushes) {
        const Tokens before = load.so_far().admitted;
        load.await([&](const Counts& counts) { return counts.admitted >= before + 500; });
        lost += flush_what_is_left(raw);
    }
    load.await([](const Counts& counts) { return counts.denied > 0; });
    const Counts counts = load.stop();

    EXPECT_EQ(counts.admitted, 21 * 20'000 - lost);
    EXPECT_EQ(counts.faults, 0);
    EXPECT_EQ(take(*store, "k", kHotOnly, 0)->remaining, 0);
}

TEST_F(RedisFault, DecidesSeveralKeysAsOneOrNone) {
    const auto store = open_limits(patient(address_));
    const std::array checks{Check{"rich", kHotOnly, 1}, Check{"poor", kHotOnly, 2}};
    ASSERT_TRUE(take(*store, "poor", kHotOnly, 19'999));

    const auto denied = store->take_together(checks);
    EXPECT_FALSE(denied->allowed);
    EXPECT_EQ(denied->plan, 1U);
    EXPECT_EQ(take(*store, "rich", kHotOnly, 0)->remaining, 20'000);

    ASSERT_TRUE(store->reset("poor", kHotOnly));
    EXPECT_TRUE(store->take_together(checks)->allowed);
    EXPECT_EQ(take(*store, "rich", kHotOnly, 0)->remaining, 19'999);
    EXPECT_EQ(take(*store, "poor", kHotOnly, 0)->remaining, 19'998);
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

// What had no answer may have been charged, once at most; the rest is all there.
void expect_nothing_left_after(Load& load) {
    load.await([](const Counts& counts) { return counts.denied > 0; });
    const Counts counts = load.stop();
    EXPECT_LE(counts.admitted, 20'000);
    EXPECT_GE(counts.admitted, 20'000 - counts.faults);
}

RedisOptions impatient(const std::string& address) {
    RedisOptions options = patient(address);
    options.timeout = 200ms;
    options.connect_timeout = 200ms;
    return options;
}

// A process that does nothing meanwhile.
class Standstill {
public:
    explicit Standstill(pid_t process) : process_{process} { ::kill(process_, SIGSTOP); }
    ~Standstill() { ::kill(process_, SIGCONT); }
    Standstill(const Standstill&) = delete;
    Standstill& operator=(const Standstill&) = delete;

private:
    const pid_t process_;
};

// Nothing but the time-outs ends the calls while the server stands still: it goes on only afterwards.
TEST_F(RedisFault, EndsEveryCallWhileTheServerStandsStillAndComesBackByItself) {
    const OwnRedis own{"redis"};
    const auto store = open_limits(impatient(own.address()));
    const pid_t server = RawRedis{own.address()}.process();

    Load load{{{store.get()}, 8}};
    load.await([](const Counts& counts) { return counts.admitted >= 2'000; });
    {
        const Standstill still{server};
        load.await_faults_of_all(3);
    }

    expect_nothing_left_after(load);
}

TEST_F(RedisFault, EndsEveryCallWhileClientsArePausedAndComesBackByItself) {
    const OwnRedis own{"redis"};
    const auto store = open_limits(impatient(own.address()));
    RawRedis raw{own.address()};

    Load load{{{store.get()}, 8}};
    load.await([](const Counts& counts) { return counts.admitted >= 2'000; });
    ASSERT_EQ(raw.text({"CLIENT", "PAUSE", "60000", "WRITE"}), "OK");
    load.await_faults_of_all(3);
    ASSERT_EQ(raw.text({"CLIENT", "UNPAUSE"}), "OK");

    expect_nothing_left_after(load);
}

TEST_F(RedisFault, ComesBackByItselfAfterAKillAndAdmitsNoMoreThanIsLeft) {
    OwnRedis own{"redis"};
    const auto store = open_limits(impatient(own.address()));

    Load load{{{store.get()}, 8}};
    load.await([](const Counts& counts) { return counts.admitted >= 2'000; });
    own.kill();
    load.await_faults_of_all(1);
    own.revive();

    expect_nothing_left_after(load);
}

// What had no answer may have been charged; asked again by the store, it would be charged twice.
TEST_F(RedisFault, AsksNothingAgainThatWasOnItsWayWhenTheConnectionBroke) {
    TcpProxy proxy{RawRedis::server_of(address_).port};
    const auto store = open_limits(patient("127.0.0.1:" + std::to_string(proxy.port())));
    ASSERT_TRUE(take(*store, "k", kHotOnly, 0));

    proxy.cut_after("rate_limiter:hot:{k}");
    EXPECT_FALSE(take(*store, "k", kHotOnly));
    EXPECT_EQ(take_at_last(*store, "k", kHotOnly, 0)->remaining, 19'999);

    proxy.cut_before("rate_limiter:hot:{k}");
    EXPECT_FALSE(take(*store, "k", kHotOnly));
    EXPECT_EQ(take_at_last(*store, "k", kHotOnly, 0)->remaining, 19'999);
}

// Neither a charge, nor what needs no write: the state of a replica may be old.
TEST_F(RedisFault, GetsNoAnswerFromAServerThatHasBecomeAReplica) {
    const OwnRedis own{"redis"};
    const auto store = open_limits(impatient(own.address()));
    RawRedis raw{own.address()};
    ASSERT_TRUE(take_at_last(*store, "k", kHotOnly, 20'000)->allowed);

    raw.ask({"REPLICAOF", "127.0.0.1", "1"});
    for (const Tokens cost : {0, 1, 20'000}) {
        EXPECT_FALSE(take(*store, "k", kHotOnly, cost).has_value()) << cost;
    }
    raw.ask({"REPLICAOF", "NO", "ONE"});

    EXPECT_FALSE(take_at_last(*store, "k", kHotOnly)->allowed);
}

TEST_F(RedisFault, GetsNoAnswerWhileTheServerRefusesToWrite) {
    const OwnRedis own{"redis"};
    const auto store = open_limits(patient(own.address()));
    RawRedis raw{own.address()};
    ASSERT_TRUE(take(*store, "k", kHotOnly, 20'000)->allowed);

    for (const char* const setting : {"maxmemory", "min-replicas-to-write"}) {
        raw.ask({"CONFIG", "SET", setting, "1"});
        EXPECT_FALSE(take(*store, "k", kHotOnly).has_value()) << setting;
        raw.ask({"CONFIG", "SET", setting, "0"});
        EXPECT_FALSE(take(*store, "k", kHotOnly)->allowed) << setting;
    }
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

}  // namespace
}  // namespace sluice::test
