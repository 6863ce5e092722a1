#include "core/limits/token_bucket.hpp"

#include <array>
#include <limits>

#include <gtest/gtest.h>

#include "base/random.hpp"
#include "support/limit_words.hpp"

namespace sluice::test {
namespace {

TEST(Divisor, DividesAsDivisionDoes) {
    const std::array<std::int64_t, 12> numbers{
        0,         1,        2, 3, 999, 1'000, 1'000'000, 86'400'000'000, kExactMax / 3, kExactMax - 1,
        kExactMax, 1LL << 61};
    Random random{1};
    const auto check = [](std::int64_t number, std::int64_t divisor) {
        ASSERT_EQ(Divisor{divisor}.down(number), number / divisor) << number << " / " << divisor;
        ASSERT_EQ(Divisor{divisor}.up(number), (number + divisor - 1) / divisor)
            << number << " / " << divisor;
    };

    for (const std::int64_t divisor : numbers) {
        for (const std::int64_t number : numbers) {
            if (divisor > 0) {
                check(number, divisor);
            }
        }
    }
    for (int i = 0; i < 100'000; ++i) {
        const auto divisor = static_cast<std::int64_t>(random.next() >> (12 + random.below(51))) + 1;
        const auto quotient =
            static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(kExactMax / divisor) + 1));
        check(quotient * divisor, divisor);  // Where a quotient that is one off would show.
        check(quotient * divisor + divisor - 1, divisor);
        check(static_cast<std::int64_t>(random.next() >> 11U), divisor);
    }
}

TEST(TokenBucket, BeginsFull) {
    Keyed key{bucket(10, 1, 1s)};

    EXPECT_EQ(key.take(kMidnight, 4), (Standing{true, 10, 6, 0us, 4s}));
}

TEST(TokenBucket, DeniesWithTheExactWaitWhenEmpty) {
    Keyed key{bucket(10, 1, 100ms)};
    key.take(kMidnight, 10);

    EXPECT_EQ(key.take(kMidnight + 30ms), (Standing{false, 10, 0, 70ms, 970ms}));
    EXPECT_FALSE(key.take(kMidnight + 99'999us).allowed);
    EXPECT_TRUE(key.take(kMidnight + 100ms).allowed);
}

TEST(TokenBucket, LosesNoFractionHoweverOftenItIsLookedAt) {
    Keyed key{bucket(7, 3, 7s)};  // A token every 2.333... seconds.
    key.take(kMidnight, 7);

    for (int i = 1; i < 7'000; ++i) {
        key.take(kMidnight + i * 1ms, 7);  // Denied, or it would be seen below.
    }

    EXPECT_EQ(key.take(kMidnight + 7s, 3), (Standing{true, 7, 0, 0us, 16'333'334us}));
    EXPECT_EQ(key.take(kMidnight + 7s).retry_after, 2'333'334us);
}

TEST(TokenBucket, LosesNoFractionHoweverOftenItIsCharged) {
    Keyed key{bucket(3, 3, 7us)};
    key.take(kMidnight, 3);
    Tokens taken = 0;

    for (int i = 1; i <= 7'000; ++i) {
        taken += key.take(kMidnight + i * 1us).allowed ? 1 : 0;
    }

    EXPECT_EQ(taken, 3'000);
}

TEST(TokenBucket, AClockThatStepsBackAddsNothing) {
    Keyed key{bucket(2, 1, 1s)};
    key.take(kMidnight, 2);

    EXPECT_EQ(key.take(kMidnight - 1h).retry_after, 1h + 1s);
    EXPECT_EQ(key.take(kMidnight + 999'999us).retry_after, 1us);
    EXPECT_TRUE(key.take(kMidnight + 1s).allowed);
}

TEST(TokenBucket, AChargeBeforeTheLastOneKeepsTheTimeOfTheLast) {
    Keyed key{bucket(2, 1, 1s)};
    key.take(kMidnight, 1);
    key.take(kMidnight - 1h, 1);

    EXPECT_EQ(key.state(), (TokenBucket::State{0, microseconds_of(kMidnight)}));
}

TEST(TokenBucket, APeekAnswersForOneTokenAndTakesNone) {
    Keyed key{bucket(2, 1, 1s)};

    EXPECT_EQ(key.peek(kMidnight), (Standing{true, 2, 2, 0us, 0us}));
    key.take(kMidnight, 2);
    EXPECT_EQ(key.peek(kMidnight), (Standing{false, 2, 0, 1s, 2s}));
    EXPECT_EQ(key.peek(kMidnight + 1s), (Standing{true, 2, 1, 0us, 1s}));
}

TEST(TokenBucket, ARefundNeverFillsAboveCapacity) {
    Keyed key{bucket(5, 1, 1s)};
    key.take(kMidnight, 3);

    key.refund(kMidnight, 2);
    EXPECT_EQ(key.peek(kMidnight).remaining, 4);
    key.refund(kMidnight + 1s, 5);
    EXPECT_EQ(key.peek(kMidnight + 1s).remaining, 5);
    EXPECT_EQ(key.state().level, key.rule().fresh().level);
}

TEST(TokenBucket, IsIdleOnceItIsFullAgain) {
    Keyed key{bucket(5, 1, 1s)};
    key.take(kMidnight, 3);

    EXPECT_EQ(key.idle_at(), kMidnight + 3s);
}

TEST(TokenBucket, CutsWhatALargerBucketLeftBehind) {
    Keyed large{bucket(100, 1, 1s)};
    large.take(kMidnight, 1);

    const Standing standing = bucket(10, 1, 1s).look(large.state(), {kMidnight, 1});

    EXPECT_EQ(standing, (Standing{true, 10, 9, 0us, 1s}));
}

TEST(TokenBucket, RefusesWhatCannotBeCountedExactly) {
    constexpr auto kMost = std::numeric_limits<Tokens>::max();

    EXPECT_FALSE(TokenBucket::make(0, {1, 1s}));
    EXPECT_FALSE(TokenBucket::make(1, {0, 1s}));
    EXPECT_FALSE(TokenBucket::make(1, {1, 0s}));
    EXPECT_FALSE(TokenBucket::make(-1, {1, 1s}));
    EXPECT_FALSE(TokenBucket::make(kMost, {1, 1s}));
    EXPECT_FALSE(TokenBucket::make(1, {kMost, 1us}));
    EXPECT_FALSE(TokenBucket::make(kExactMax, {1, 1us}));
    EXPECT_TRUE(TokenBucket::make(kExactMax - 1, {1, 1us}));
    EXPECT_TRUE(TokenBucket::make(1, {kExactMax - 1, 1us}));
}

TEST(TokenBucket, CountsInLowestTerms) {
    // 86,400,000,000 units a token would be too many; a million a day is one every 86,400 microseconds.
    EXPECT_TRUE(TokenBucket::make(1'000'000, {1'000'000, 24h}));
    EXPECT_FALSE(TokenBucket::make(1'000'000, {1'000'001, 24h}));
}

TEST(TokenBucket, DoesNotOverflowAtItsLargest) {
    for (const Tokens speed : {Tokens{1}, Tokens{3}, kExactMax - 1}) {
        Keyed key{bucket(kExactMax - 1, speed, 1us)};
        key.take(kMidnight, kExactMax - 1);

        EXPECT_EQ(key.peek(kMidnight).remaining, 0);
        EXPECT_EQ(key.peek(kMidnight + 1us).remaining, speed);
        EXPECT_EQ(key.peek(moment_of(kExactMax - 1)).allowed, true);
        EXPECT_EQ(key.take(kMidnight, kExactMax - 1).retry_after.count(), divide_up(kExactMax - 1, speed));
    }
}

}  // namespace
}  // namespace sluice::test
