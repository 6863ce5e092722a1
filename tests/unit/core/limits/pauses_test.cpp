#include <gtest/gtest.h>

#include "support/limit_words.hpp"

namespace sluice::test {
namespace {

TEST(Cooldown, PausesAfterEachEventAndAllowsTheNextExactlyAtItsEnd) {
    Keyed key{good(Cooldown::make(5min, 4))};

    EXPECT_EQ(key.take(kMidnight), (Standing{true, 4, 3, 0us, 1h}));
    EXPECT_EQ(key.take(kMidnight + 1min), (Standing{false, 4, 3, 4min, 59min}));
    EXPECT_TRUE(key.take(kMidnight + 5min).allowed);
}

TEST(Cooldown, AllowsSoManyInTheHourThatBeginsWithTheFirst) {
    Keyed key{good(Cooldown::make(1min, 2))};
    key.take(kMidnight + 30min);
    key.take(kMidnight + 40min);

    EXPECT_EQ(key.take(kMidnight + 50min), (Standing{false, 2, 0, 40min, 40min}));
    EXPECT_TRUE(key.take(kMidnight + 90min).allowed);
    EXPECT_EQ(key.peek(kMidnight + 91min).remaining, 1);
}

TEST(Cooldown, AClockThatStepsBackEndsNeitherPauseNorHour) {
    Keyed key{good(Cooldown::make(1min, 1))};
    key.take(kMidnight + 2h);

    EXPECT_EQ(key.take(kMidnight).retry_after, 3h);
}

TEST(Cooldown, ARefundGivesTheEventBackAndKeepsThePause) {
    Keyed key{good(Cooldown::make(1min, 1))};
    key.take(kMidnight);

    key.refund(kMidnight, 1);

    EXPECT_EQ(key.take(kMidnight), (Standing{false, 1, 1, 1min, 1min}));
    EXPECT_TRUE(key.take(kMidnight + 1min).allowed);
}

TEST(Cooldown, RefusesWhatCannotBe) {
    EXPECT_FALSE(Cooldown::make(-1s, 1));
    EXPECT_FALSE(Cooldown::make(kWindowSizeMax + 1us, 1));
    EXPECT_FALSE(Cooldown::make(1s, 0));
    EXPECT_TRUE(Cooldown::make(0s, 1));
}

TEST(Cooldown, CountsEveryEventOfACostInTheHour) {
    Keyed key{good(Cooldown::make(10s, 5))};
    key.take(kMidnight, 3);

    EXPECT_EQ(key.peek(kMidnight + 10s).remaining, 2);
    EXPECT_EQ(key.take(kMidnight + 10s, 3).retry_after, 1h - 10s);
    EXPECT_TRUE(key.take(kMidnight + 10s, 2).allowed);
}

TEST(Concurrency, HoldsAPlaceUntilItIsReleased) {
    Keyed key{good(Concurrency::make(2, 1min))};
    key.take_for(LeaseId{1}, kMidnight);
    key.take_for(LeaseId{2}, kMidnight);

    EXPECT_EQ(key.take_for(LeaseId{3}, kMidnight + 1s), (Standing{false, 2, 0, 59s, 59s}));
    EXPECT_TRUE(key.rule().release(key.state(), {kMidnight + 1s, 0, LeaseId{1}}));
    EXPECT_FALSE(key.rule().release(key.state(), {kMidnight + 1s, 0, LeaseId{1}}));
    EXPECT_EQ(key.take_for(LeaseId{3}, kMidnight + 1s), (Standing{true, 2, 0, 0us, 1min}));
}

TEST(Concurrency, ALeaseExpiresWithoutItsHolder) {
    Keyed key{good(Concurrency::make(3, 1min))};
    key.take_for(LeaseId{1}, kMidnight, 1);
    key.take_for(LeaseId{2}, kMidnight + 10s, 2);

    EXPECT_EQ(key.take_for(LeaseId{3}, kMidnight + 20s, 2).retry_after, 50s);
    EXPECT_FALSE(key.rule().release(key.state(), {kMidnight + 1min, 0, LeaseId{1}}));
    EXPECT_TRUE(key.take_for(LeaseId{3}, kMidnight + 1min, 1).allowed);
}

TEST(Concurrency, AClockThatStepsBackLetsNoLeaseExpire) {
    Keyed key{good(Concurrency::make(1, 1min))};
    key.take_for(LeaseId{1}, kMidnight + 1h);

    EXPECT_EQ(key.take_for(LeaseId{2}, kMidnight).retry_after, 61min);
}

TEST(Concurrency, ALeaseThatIsGrantedAfterAStepBackLastsItsTerm) {
    Keyed key{good(Concurrency::make(2, 1min))};
    key.take_for(LeaseId{1}, kMidnight + 1h);
    key.take_for(LeaseId{2}, kMidnight);

    EXPECT_EQ(key.take_for(LeaseId{3}, kMidnight + 60min + 59s), (Standing{false, 2, 0, 1s, 1s}));
}

TEST(Concurrency, ARefundLetsNoPlaceExpireBeforeItsHolder) {
    Keyed key{good(Concurrency::make(2, 1min))};
    key.take_for(LeaseId{1}, kMidnight);
    key.take_for(LeaseId{2}, kMidnight + 30s);

    key.refund(kMidnight + 30s, 1);

    EXPECT_EQ(key.peek(kMidnight + 30s).remaining, 1);
    EXPECT_EQ(key.peek(kMidnight + 89s).remaining, 1);
    EXPECT_EQ(key.peek(kMidnight + 90s).remaining, 2);
}

TEST(Concurrency, RefusesWhatCannotBe) {
    EXPECT_FALSE(Concurrency::make(0, 1s));
    EXPECT_FALSE(Concurrency::make(Concurrency::kLimitMax + 1, 1s));
    EXPECT_FALSE(Concurrency::make(1, 0s));
}

}  // namespace
}  // namespace sluice::test
