#include <array>
#include <bit>
#include <map>

#include <gmock/gmock.h>

#include "app/limits/plan_shelf.hpp"
#include "base/bytes.hpp"
#include "store/redis/limits/state_keys.hpp"
#include "support/limit_words.hpp"
#include "support/redis_fixture.hpp"

namespace sluice::test {
namespace {

using Fields = std::map<std::string, std::string>;

std::string int64(std::int64_t number) {
    return ByteWriter{}.number(static_cast<std::uint64_t>(number)).bytes();
}
std::string int64(Moment moment) { return int64(microseconds_of(moment)); }
std::string uint16(std::uint16_t number) { return ByteWriter{}.number(number).bytes(); }
std::string double64(double number) {
    return ByteWriter{}.number(std::bit_cast<std::uint64_t>(number)).bytes();
}

// What lies in Redis, byte for byte, is part of the contract: other programs and later versions read it.
class RedisLayout : public testing::Test {
protected:
    void SetUp() override {
        SLUICE_NEEDS_REDIS("SLUICE_TEST_REDIS");
        address_ = redis_address("SLUICE_TEST_REDIS");
        flush(address_);
        raw_ = std::make_unique<RawRedis>(address_);
        store_ = open_limits(patient(address_), clock_);
    }

    Verdict take(const Plan& plan, Tokens cost = 1) { return take(std::vector<const Plan*>{&plan}, cost); }
    Verdict take(const std::vector<const Plan*>& plans, Tokens cost = 1) {
        return outcome(plans, cost).value();
    }
    CheckOutcome outcome(const std::vector<const Plan*>& plans, Tokens cost = 1) {
        const Check check{"k", plans, cost};
        CheckOutcome result = Verdict{};
        store_->take({&check, 1}, {&result, 1});
        return result;
    }

    Fields fields(const std::string& plan) {
        const auto reply = raw_->ask({"HGETALL", "rate_limiter:" + plan + ":{k}"});
        Fields found;
        for (std::size_t i = 0; i + 1 < reply.size(); i += 2) {
            found.emplace(reply.at(i).text(), reply.at(i + 1).text());
        }
        return found;
    }

    std::string address_;
    HandMomentClock clock_{kMidnight};
    std::unique_ptr<RawRedis> raw_;
    std::unique_ptr<LimitStore> store_;
};

TEST_F(RedisLayout, KeepsATokenBucketAsALevelAndAMoment) {
    const Plan gold = plan("gold", bucket(10, 3, 2s));

    take(gold, 4);

    // 3 in 2 s: a token is 2,000,000 units, a microsecond adds 3.
    EXPECT_EQ(fields("gold"), (Fields{{"t", double64(12e6)}, {"ts", int64(kMidnight)}, {"v", "1"}}));
}

TEST_F(RedisLayout, ReadsATokenBucketThatAnotherWrote) {
    raw_->ask({"HSET", "rate_limiter:gold:{k}", "t", double64(5e6), "ts", int64(kMidnight - 1s), "v", "1"});

    EXPECT_EQ(take(plan("gold", bucket(10, 1, 1s))).remaining, 5);
}

TEST_F(RedisLayout, KeepsTheOtherRulesAsWholeNumbers) {
    take(plan("w", aligned(9, 1min)), 2);
    take(plan("l", good(SlidingWindow::make(9, 1min))), 3);
    take(plan("e", good(SlidingWindowEstimate::make(9, 1min))), 4);
    take(plan("c", good(Cooldown::make(1min, 9))), 5);
    const Verdict lease = take(plan("p", good(Concurrency::make(9, 1min))), 6);

    const std::string now = int64(kMidnight);
    EXPECT_EQ(fields("w"), (Fields{{"w", "1" + int64(2) + now}}));
    EXPECT_EQ(fields("l"), (Fields{{"l", "1" + now + uint16(3)}}));
    EXPECT_EQ(fields("e"), (Fields{{"e", "1" + now + int64(4) + int64(0)}}));
    EXPECT_EQ(fields("c"), (Fields{{"c", "1" + now + now + int64(5)}}));
    EXPECT_EQ(fields("p"),
              (Fields{{"p", "1" + now + uint16(6) + int64(static_cast<std::int64_t>(lease.lease))}}));
}

TEST_F(RedisLayout, KeepsWhatAnotherAlgorithmCounted) {
    take(plan("gold", bucket(10, 1, 1s)));
    take(plan("gold", aligned(9, 1min)));

    EXPECT_EQ(fields("gold"), (Fields{{"t", double64(9e6)},
                                      {"ts", int64(kMidnight)},
                                      {"v", "1"},
                                      {"w", "1" + int64(1) + int64(kMidnight)}}));
}

TEST_F(RedisLayout, WritesNothingForDenialsAndPeeks) {
    const Plan gold = plan("gold", bucket(2, 1, 1s));
    take(gold, 0);
    EXPECT_EQ(fields("gold"), Fields{});

    take(gold, 2);
    const Fields before = fields("gold");
    clock_.advance(1ms);
    EXPECT_FALSE(take(gold, 1).allowed);
    EXPECT_EQ(fields("gold"), before);
}

TEST_F(RedisLayout, AChainWhoseThirdPlanDeniesChangesNothing) {
    const Plan gold = plan("gold", bucket(10, 1, 1s));
    const Plan daily = plan("daily", calendar(20, WindowKind::Day));
    const Plan strict = plan("strict", aligned(1, 1min));
    take({&gold, &strict});
    const std::array before{fields("gold"), fields("daily"), fields("strict")};
    clock_.advance(1s);

    EXPECT_FALSE(take({&gold, &daily, &strict}).allowed);

    EXPECT_EQ((std::array{fields("gold"), fields("daily"), fields("strict")}), before);
    EXPECT_EQ(fields("daily"), Fields{});
}

TEST_F(RedisLayout, FailsTheChecksOfAHashThatAnotherVersionWroteAndNoOthers) {
    const Plan strange = plan("strange", bucket(10, 1, 1s));
    const Plan window = plan("window", aligned(10, 1min));
    const Plan gold = plan("gold", bucket(10, 1, 1s));
    const std::array strange_plans{&strange};
    const std::array window_plans{&window};
    const std::array gold_plans{&gold};
    const std::array<const Plan*, 2> both{&gold, &strange};
    raw_->ask({"HSET", "rate_limiter:strange:{k}", "t", "x", "ts", "y", "v", "2"});
    raw_->ask({"SET", "rate_limiter:window:{k}", "a string"});

    const std::array checks{Check{"k", strange_plans, 1}, Check{"k", gold_plans, 1}, Check{"k", both, 1},
                            Check{"k", window_plans, 1}, Check{"k", gold_plans, 1}};
    std::vector<CheckOutcome> outcomes(checks.size(), Verdict{});
    store_->take(checks, outcomes);

    EXPECT_EQ(outcomes[0].error(), LimitFault::Unavailable);
    EXPECT_EQ(outcomes[1]->remaining, 9);
    EXPECT_EQ(outcomes[2].error(), LimitFault::Unavailable);
    EXPECT_EQ(outcomes[3].error(), LimitFault::Unavailable);
    EXPECT_EQ(outcomes[4]->remaining, 8);
    EXPECT_EQ(store_->refund(checks[0]).error(), LimitFault::Unavailable);
    EXPECT_EQ(store_->inspect("k", strange_plans).error(), LimitFault::Unavailable);
    EXPECT_TRUE(store_->reset("k", strange_plans));
    EXPECT_EQ(take(strange).remaining, 9);
}

TEST_F(RedisLayout, KeepsAdministratorsPlansInAHashOfTheirOwn) {
    auto* const shelf = dynamic_cast<PlanShelf*>(store_.get());
    ASSERT_NE(shelf, nullptr);
    EXPECT_TRUE(shelf->all_plans().value().empty());
    ASSERT_TRUE(shelf->put_plan("gold", "capacity=1"));
    ASSERT_TRUE(shelf->put_plan("gold", "capacity=2"));
    ASSERT_TRUE(shelf->put_plan("silver", "capacity=3"));
    ASSERT_TRUE(shelf->remove_plan("silver"));

    const auto plans = shelf->all_plans();

    ASSERT_TRUE(plans);
    ASSERT_EQ(plans->size(), 1U);
    EXPECT_EQ(plans->front().name, "gold");
    EXPECT_EQ(plans->front().words, "capacity=2");
    EXPECT_EQ(raw_->ask({"HGET", "rate_limiter:{plans}", "gold"}).text(), "capacity=2");
}

// From here on by the server's own clock.
class RedisTtl : public RedisLayout {
protected:
    void SetUp() override {
        RedisLayout::SetUp();
        if (store_) {
            store_ = open_limits(patient(address_));
        }
    }

    std::int64_t lives_for(const std::string& plan) {
        return raw_->integer({"PTTL", "rate_limiter:" + plan + ":{k}"});
    }
    Moment server_now() {
        const auto time = raw_->ask({"TIME"});
        return moment_of(std::stoll(std::string{time.at(0).text()}) * 1'000'000 +
                         std::stoll(std::string{time.at(1).text()}));
    }
};

TEST_F(RedisTtl, IsTheTimeUntilNothingIsHeldAgainstTheKey) {
    const Plan gold = plan("gold", bucket(100, 1, 10s));
    const Plan log = plan("log", good(SlidingWindow::make(9, 5min)));
    const Moment before = server_now();

    take({&gold, &log}, 6);

    const auto bucket_lives = lives_for("gold");
    const auto log_lives = lives_for("log");
    const auto late = (server_now() - before).count() / 1'000 + 2;
    EXPECT_THAT(bucket_lives, testing::AllOf(testing::Gt(60'000 - late), testing::Le(60'001)));
    EXPECT_THAT(log_lives, testing::AllOf(testing::Gt(300'000 - late), testing::Le(300'001)));
}

TEST_F(RedisTtl, DecidesByTheServersClock) {
    const Moment before = server_now();
    take(plan("gold", bucket(10, 1, 1s)));
    const Moment after = server_now();

    const std::string ts = fields("gold")["ts"];
    const auto at = static_cast<std::int64_t>(ByteReader{ts}.number<std::uint64_t>());
    EXPECT_THAT(at,
                testing::AllOf(testing::Ge(microseconds_of(before)), testing::Le(microseconds_of(after))));
}

TEST_F(RedisTtl, IsThatOfTheAlgorithmThatHoldsSomethingLongest) {
    const Plan brief = plan("gold", bucket(10, 1, 1s));
    const Plan lasting = plan("gold", good(SlidingWindow::make(9, 1h)));
    take(brief);
    take(lasting);
    EXPECT_GT(lives_for("gold"), 3'000'000);

    take(brief);
    take(lasting);

    EXPECT_GT(lives_for("gold"), 3'000'000);
}

TEST_F(RedisTtl, GoesWhenAllWasRefunded) {
    const Plan gold = plan("gold", bucket(10, 1, 1h));
    const std::array plans{&gold};
    take(gold, 6);

    ASSERT_TRUE(store_->refund({"k", plans, 6}));

    EXPECT_LE(lives_for("gold"), 1);
}

TEST_F(RedisTtl, OfAnOverrideIsItsEndAndAllStoresSeeIt) {
    const Plan gold = plan("gold", bucket(10, 1, 1s));
    const auto other = open_limits(patient(address_));
    take(gold, 1);

    ASSERT_TRUE(other->put_override("k", gold, {bucket(100, 1, 1s), server_now() + 1h}));

    EXPECT_EQ(take(gold, 60).remaining, 40);
    EXPECT_THAT(lives_for("gold"), testing::AllOf(testing::Gt(3'500'000), testing::Le(3'600'001)));
    ASSERT_TRUE(other->put_override("k", gold, {bucket(100, 1, 1s), Moment{}}));
    EXPECT_EQ(take(gold, 1).limit, 10);
}

}  // namespace
}  // namespace sluice::test
