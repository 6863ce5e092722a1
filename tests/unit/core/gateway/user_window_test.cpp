#include "core/gateway/user_window.hpp"

#include <gtest/gtest.h>

#include "core/gateway/message.hpp"

namespace sluice {
namespace {

using namespace std::chrono_literals;

constexpr Instant kStart{1'000'000s};
constexpr UserWindow kWindow{{10, 5}, 7, kStart};

TEST(UserWindow, GrantsAsManyAsFit) {
    const auto step = reserve(kWindow, kStart + 1min, 5);

    EXPECT_EQ(step.granted, 3);
    EXPECT_EQ(step.next, (UserWindow{{10, 5}, 10, kStart}));
    EXPECT_EQ(step.retry_after, 4min);
}

TEST(UserWindow, SaysNothingOfAWaitWhenAllFit) {
    const auto step = reserve(kWindow, kStart, 3);

    EXPECT_EQ(step.granted, 3);
    EXPECT_EQ(step.retry_after, 0ms);
}

TEST(UserWindow, StaysAsItWasWhenItIsFull) {
    const UserWindow full{{10, 5}, 10, kStart};

    const auto step = reserve(full, kStart + 5min - 1ms, 1);

    EXPECT_EQ(step.granted, 0);
    EXPECT_EQ(step.next, full);
    EXPECT_EQ(step.retry_after, 1ms);
}

TEST(UserWindow, BeginsAnewExactlyWhenItHasElapsed) {
    const UserWindow full{{10, 5}, 10, kStart};

    EXPECT_EQ(reserve(full, kStart + 5min, 1).next, (UserWindow{{10, 5}, 1, kStart + 5min}));
    EXPECT_EQ(reserve(full, kStart + 24h, 1).next, (UserWindow{{10, 5}, 1, kStart + 24h}));
}

TEST(UserWindow, HoldsNoMoreThanItsLimitAlsoAfterOneThatWasFuller) {
    const UserWindow over{{3, 5}, 7, kStart};

    EXPECT_EQ(reserve(over, kStart, 1).granted, 0);
}

TEST(UserWindow, IsNotOpenedByAClockThatStepsBack) {
    const UserWindow full{{10, 5}, 10, kStart};

    const auto step = reserve(full, kStart - 1h, 1);

    EXPECT_EQ(step.granted, 0);
    EXPECT_EQ(step.retry_after, 65min);
}

TEST(UserWindow, ReachesAsFarAsTermsMay) {
    constexpr UserWindow kLong{{1'000'000'000, 1'000'000'000}, 0, kStart};

    EXPECT_EQ(reserve(kLong, kStart + std::chrono::days{365}, 1).next.start, kStart);
}

TEST(UserWindow, TakesAPlaceBackOnlyIntoTheWindowThatGaveIt) {
    EXPECT_EQ(refund(kWindow, kStart).count, 6);
    EXPECT_EQ(refund(kWindow, kStart - 5min).count, 7);
    EXPECT_EQ(refund({{10, 5}, 0, kStart}, kStart).count, 0);
}

TEST(UserWindow, CountsAReservationUntilItEnds) {
    EXPECT_TRUE(still_counted(kWindow, kStart, kStart + 5min - 1ms));
    EXPECT_FALSE(still_counted(kWindow, kStart, kStart + 5min));
    EXPECT_FALSE(still_counted(kWindow, kStart - 5min, kStart));
}

TEST(Message, IsSendableUnlessItIsBlankOrTooLong) {
    EXPECT_TRUE(is_sendable("x"));
    EXPECT_TRUE(is_sendable(" \r\nx"));
    EXPECT_TRUE(is_sendable(std::string(kMessageBytesMax, 'x')));
    EXPECT_FALSE(is_sendable(""));
    EXPECT_FALSE(is_sendable(" \t\r\n"));
    EXPECT_FALSE(is_sendable(std::string(kMessageBytesMax + 1, 'x')));
}

}  // namespace
}  // namespace sluice
