#include <gtest/gtest.h>

#include "support/limit_words.hpp"

namespace sluice::test {
namespace {

using std::chrono::sys_days;

constexpr Moment day(int year, unsigned month, unsigned day) {
    return sys_days{std::chrono::year{year} / static_cast<int>(month) / static_cast<int>(day)};
}

TEST(FixedWindow, BeginsAnewWithEachAlignedWindow) {
    Keyed key{aligned(3, 1min)};

    EXPECT_EQ(key.take(kMidnight + 40s, 3), (Standing{true, 3, 0, 0us, 20s}));
    EXPECT_EQ(key.take(kMidnight + 59'999'999us), (Standing{false, 3, 0, 1us, 1us}));
    EXPECT_EQ(key.take(kMidnight + 1min), (Standing{true, 3, 2, 0us, 1min}));
}

TEST(FixedWindow, FromTheFirstHitLastsItsSizeFromThere) {
    Keyed key{from_first_hit(2, 1min)};

    EXPECT_EQ(key.take(kMidnight + 40s, 2), (Standing{true, 2, 0, 0us, 1min}));
    EXPECT_EQ(key.take(kMidnight + 99s), (Standing{false, 2, 0, 1s, 1s}));
    EXPECT_EQ(key.take(kMidnight + 100s), (Standing{true, 2, 1, 0us, 1min}));
}

TEST(FixedWindow, ADeniedCheckDoesNotBeginAWindow) {
    Keyed key{from_first_hit(2, 1min)};
    key.take(kMidnight, 1);

    EXPECT_FALSE(key.take(kMidnight + 30s, 2).allowed);
    EXPECT_EQ(key.idle_at(), kMidnight + 1min);
}

TEST(FixedWindow, CalendarMonthsHaveTheirOwnLengths) {
    Keyed key{calendar(1, WindowKind::Month)};

    EXPECT_EQ(key.take(day(2024, 2, 1)).reset_after, 29 * 24h);
    EXPECT_EQ(key.take(day(2024, 2, 29) + 23h).retry_after, 1h);
    EXPECT_EQ(key.take(day(2024, 12, 31)).reset_after, 24h);
    EXPECT_TRUE(key.take(day(2025, 1, 1)).allowed);
}

TEST(FixedWindow, CalendarDaysWeeksAndYearsAreThoseOfUtc) {
    EXPECT_EQ(Keyed{calendar(1, WindowKind::Day)}.take(kMidnight + 23h).reset_after, 1h);
    EXPECT_EQ(Keyed{calendar(1, WindowKind::Week)}.take(kMidnight + 23h).reset_after, 1h);  // A Sunday.
    EXPECT_EQ(Keyed{calendar(1, WindowKind::Year)}.take(day(2024, 1, 1)).reset_after, 366 * 24h);
    EXPECT_EQ(Keyed{calendar(1, WindowKind::Week)}.take(Moment{}).reset_after, 4 * 24h);  // A Thursday.
}

TEST(FixedWindow, AClockThatStepsBackStaysInTheWindow) {
    Keyed key{aligned(2, 1min)};
    key.take(kMidnight + 1min, 2);

    EXPECT_EQ(key.take(kMidnight).retry_after, 2min);
    EXPECT_FALSE(key.take(kMidnight + 119s).allowed);
}

TEST(FixedWindow, AClockThatStepsBackAfterARefundCannotReachAnEarlierWindow) {
    Keyed key{aligned(2, 1min)};
    key.take(kMidnight + 1min, 2);
    key.refund(kMidnight + 1min, 2);

    EXPECT_TRUE(key.take(kMidnight, 2).allowed);
    EXPECT_FALSE(key.take(kMidnight + 1min).allowed);
}

TEST(FixedWindow, APeekTakesNothing) {
    Keyed key{aligned(2, 1min)};

    EXPECT_EQ(key.peek(kMidnight), (Standing{true, 2, 2, 0us, 0us}));
    key.take(kMidnight, 2);
    EXPECT_EQ(key.peek(kMidnight), (Standing{false, 2, 0, 1min, 1min}));
}

TEST(FixedWindow, ARefundOfAnEarlierWindowGivesNothing) {
    Keyed key{aligned(2, 1min)};
    key.take(kMidnight, 2);

    key.refund(kMidnight + 1min, 2);

    EXPECT_EQ(key.peek(kMidnight + 1min).remaining, 2);
}

TEST(FixedWindow, RefusesWhatCannotBe) {
    const WindowCut cut = WindowCut::calendar(WindowKind::Day);

    EXPECT_FALSE(FixedWindow::make(0, cut));
    EXPECT_FALSE(FixedWindow::make(kExactMax, cut));
    EXPECT_TRUE(FixedWindow::make(kExactMax - 1, cut));
    EXPECT_FALSE(WindowCut::sized(WindowKind::Aligned, 0us));
    EXPECT_FALSE(WindowCut::sized(WindowKind::Aligned, kWindowSizeMax + 1us));
    EXPECT_FALSE(WindowCut::sized(WindowKind::Month, 1s));
}

TEST(SlidingWindow, ForgetsEachChargeExactlyAWindowLater) {
    Keyed key{good(SlidingWindow::make(3, 1min))};
    key.take(kMidnight);
    key.take(kMidnight + 20s, 2);

    EXPECT_EQ(key.take(kMidnight + 30s, 1), (Standing{false, 3, 0, 30s, 50s}));
    EXPECT_EQ(key.take(kMidnight + 30s, 2), (Standing{false, 3, 0, 50s, 50s}));
    EXPECT_FALSE(key.take(kMidnight + 59'999'999us).allowed);
    EXPECT_TRUE(key.take(kMidnight + 1min).allowed);
    EXPECT_FALSE(key.take(kMidnight + 79s).allowed);
}

TEST(SlidingWindow, AClockThatStepsBackForgetsNothing) {
    Keyed key{good(SlidingWindow::make(2, 1min))};
    key.take(kMidnight + 1min);
    key.take(kMidnight);

    EXPECT_EQ(key.take(kMidnight).retry_after, 2min);
    EXPECT_EQ(key.state(), (SlidingWindow::State{{microseconds_of(kMidnight + 1min), 2}}));
}

TEST(SlidingWindow, ARefundForgetsNothingEarlierThanWhatWasReallyUsed) {
    Keyed key{good(SlidingWindow::make(4, 1min))};
    key.take(kMidnight, 2);
    key.take(kMidnight + 30s, 2);

    key.refund(kMidnight + 30s, 3);  // The first two, and one of the others.

    EXPECT_EQ(key.peek(kMidnight + 30s).remaining, 3);
    EXPECT_EQ(key.take(kMidnight + 30s, 4).retry_after, 1min);
    EXPECT_FALSE(key.take(kMidnight + 1min, 4).allowed);
}

TEST(SlidingWindow, ARefundTakesNothingFromChargesThatCountNoMore) {
    Keyed key{good(SlidingWindow::make(4, 1min))};
    key.take(kMidnight, 2);
    key.take(kMidnight + 30s, 2);

    key.refund(kMidnight + 1min, 1);

    EXPECT_EQ(key.peek(kMidnight + 1min).remaining, 3);
}

TEST(SlidingWindow, RemembersHowFarTimeHadComeWhenAllWasRefunded) {
    Keyed key{good(SlidingWindow::make(1, 1min))};
    key.take(kMidnight + 1h);
    key.refund(kMidnight + 1h, 1);

    EXPECT_TRUE(key.take(kMidnight).allowed);
    EXPECT_EQ(key.take(kMidnight + 1h).retry_after, 1min);
    EXPECT_EQ(key.state().size(), 1U);
}

TEST(SlidingWindow, RemembersNoMoreThanItsLimit) {
    Keyed key{good(SlidingWindow::make(SlidingWindow::kLimitMax, 1s))};

    for (int i = 0; i < 5'000; ++i) {
        key.take(kMidnight + i * 100us);
        ASSERT_LE(key.state().size(), static_cast<std::size_t>(SlidingWindow::kLimitMax));
    }

    EXPECT_FALSE(SlidingWindow::make(SlidingWindow::kLimitMax + 1, 1s));
    EXPECT_FALSE(SlidingWindow::make(0, 1s));
    EXPECT_FALSE(SlidingWindow::make(1, 0s));
}

TEST(SlidingWindowEstimate, CountsTheShareOfTheWindowBeforeThatIsStillCovered) {
    Keyed key{good(SlidingWindowEstimate::make(100, 1min))};
    key.take(kMidnight, 100);

    EXPECT_EQ(key.peek(kMidnight + 1min).remaining, 0);
    EXPECT_EQ(key.peek(kMidnight + 75s).remaining, 25);
    EXPECT_EQ(key.take(kMidnight + 75s, 30), (Standing{false, 100, 25, 3s, 45s}));
    EXPECT_TRUE(key.take(kMidnight + 78s, 30).allowed);
}

TEST(SlidingWindowEstimate, WaitsIntoTheNextWindowWhenThisOneIsUsedUp) {
    Keyed key{good(SlidingWindowEstimate::make(10, 1min))};
    key.take(kMidnight + 5s, 10);

    EXPECT_EQ(key.take(kMidnight + 5s, 1).retry_after, 55s + 6s);
    EXPECT_EQ(key.take(kMidnight + 5s, 10).retry_after, 115s);
}

TEST(SlidingWindowEstimate, AClockThatStepsBackStaysWhereItWas) {
    Keyed key{good(SlidingWindowEstimate::make(2, 1min))};
    key.take(kMidnight + 1min, 2);

    EXPECT_EQ(key.take(kMidnight, 2).retry_after, 3min);
}

TEST(SlidingWindowEstimate, CountsWhatAPlanWithOtherWindowsUsed) {
    Keyed key{good(SlidingWindowEstimate::make(10, 40s))};
    key.take(kMidnight + 40s, 10);

    const SlidingWindowEstimate changed = good(SlidingWindowEstimate::make(10, 1min));

    EXPECT_FALSE(changed.look(key.state(), {kMidnight + 59s}).allowed);
    EXPECT_FALSE(changed.look(key.state(), {kMidnight + 1min}).allowed);
    EXPECT_EQ(changed.look(key.state(), {kMidnight + 90s, 0}).remaining, 5);
}

TEST(SlidingWindowEstimate, ARefundGivesBackWhatThisWindowUsed) {
    Keyed key{good(SlidingWindowEstimate::make(10, 1min))};
    key.take(kMidnight, 4);
    key.take(kMidnight + 1min, 3);

    key.refund(kMidnight + 1min, 9);

    EXPECT_EQ(key.state(), (SlidingWindowEstimate::State{microseconds_of(kMidnight + 1min), 0, 4}));
}

TEST(SlidingWindowEstimate, RefusesWhatCannotBeCountedExactly) {
    EXPECT_FALSE(SlidingWindowEstimate::make(0, 1s));
    EXPECT_FALSE(SlidingWindowEstimate::make(1, 0s));
    EXPECT_FALSE(SlidingWindowEstimate::make(kExactMax / 1'000'000, 1100ms));
    EXPECT_TRUE(SlidingWindowEstimate::make(kExactMax - 1, 1us));
}

TEST(FixedWindow, AFirstHitThatWasGivenBackWholeHasBegunNoWindow) {
    Keyed key{from_first_hit(5, 1min)};
    key.take(kMidnight, 2);
    key.refund(kMidnight + 10s, 2);

    key.take(kMidnight + 50s, 5);

    EXPECT_EQ(key.take(kMidnight + 1min).retry_after, 50s);
}

TEST(SlidingWindowEstimate, ForgetsAWindowThatIsNotTheOneBefore) {
    Keyed key{good(SlidingWindowEstimate::make(10, 1min))};
    key.take(kMidnight, 10);

    EXPECT_EQ(key.peek(kMidnight + 2min).remaining, 10);
    EXPECT_EQ(key.take(kMidnight + 2min, 10).remaining, 0);
}

TEST(SlidingWindowEstimate, RoundsTheShareOfTheWindowBeforeUp) {
    Keyed key{good(SlidingWindowEstimate::make(10, 1min))};
    key.take(kMidnight, 10);

    EXPECT_FALSE(key.take(kMidnight + 1min + 1us).allowed);
    EXPECT_EQ(key.peek(kMidnight + 1min + 6s + 1us).remaining, 1);
}

}  // namespace
}  // namespace sluice::test
