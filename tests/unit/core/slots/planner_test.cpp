#include "core/slots/planner.hpp"

#include <limits>
#include <set>

#include <gtest/gtest.h>

#include "support/naive_windows.hpp"
#include "support/slot_words.hpp"

namespace sluice {
namespace {

using namespace test;

const WindowGrid kGrid{4s};
const WindowIndex kFirst = kGrid.index_of(kNoon);

SlotPolicy four_seconds(Places max) { return {kGrid, max}; }

TEST(SlotPlanner, OffersTheShareOfTheCapThatIsLeftOfTheFirstWindow) {
    const SlotPolicy policy = four_seconds(10);

    EXPECT_EQ(first_window_capacity(policy, kNoon), 10U);
    EXPECT_EQ(first_window_capacity(policy, kNoon + 1ms), 9U);
    EXPECT_EQ(first_window_capacity(policy, kNoon + 400ms), 9U);
    EXPECT_EQ(first_window_capacity(policy, kNoon + 401ms), 8U);
    EXPECT_EQ(first_window_capacity(policy, kNoon + 2s), 5U);
    EXPECT_EQ(first_window_capacity(policy, kNoon + 3600ms), 1U);
    EXPECT_EQ(first_window_capacity(policy, kNoon + 3601ms), 0U);
    EXPECT_EQ(first_window_capacity(policy, kNoon + 3999ms), 0U);
}

TEST(SlotPlanner, DoesNotOverflowWithTheLargestCapAndWindow) {
    const SlotPolicy policy{WindowGrid{kDurationMax}, 1'000'000'000};
    const Instant start = policy.grid.start_of(policy.grid.index_of(kNoon));

    EXPECT_EQ(first_window_capacity(policy, start), 1'000'000'000U);
    EXPECT_EQ(first_window_capacity(policy, start + kDurationMax / 2), 500'000'000U);
}

TEST(SlotPlanner, NeverSchedulesBeforeTheRequestedTime) {
    const SlotPolicy policy = four_seconds(10);
    Random random{1};

    for (int i = 0; i < 4000; ++i) {
        const SlotAsk ask{kNoon + Duration{i % 4000}};
        const Instant scheduled = draw_time(policy, ask, kFirst, random);

        ASSERT_GE(scheduled, ask.requested);
        ASSERT_LT(scheduled, kNoon + 4s);
    }
}

TEST(SlotPlanner, DrawsEveryOffsetOfTheRestOfTheFirstWindow) {
    const SlotPolicy policy = four_seconds(10);
    Random random{2};
    std::set<Instant> seen;

    for (int i = 0; i < 1000; ++i) {
        seen.insert(draw_time(policy, SlotAsk{kNoon + 3990ms}, kFirst, random));
    }

    EXPECT_EQ(seen.size(), 10U);
    EXPECT_EQ(*seen.begin(), kNoon + 3990ms);
    EXPECT_EQ(*seen.rbegin(), kNoon + 3999ms);
}

TEST(SlotPlanner, DrawsFromTheWholeOfALaterWindow) {
    const SlotPolicy policy{WindowGrid{10ms}, 10};
    const WindowIndex window = policy.grid.index_of(kNoon) + 7;
    Random random{3};
    std::set<Instant> seen;

    for (int i = 0; i < 1000; ++i) {
        seen.insert(draw_time(policy, SlotAsk{kNoon + 9ms}, window, random));
    }

    EXPECT_EQ(seen.size(), 10U);
    EXPECT_EQ(*seen.begin(), kNoon + 70ms);
    EXPECT_EQ(*seen.rbegin(), kNoon + 79ms);
}

TEST(SlotPlanner, DrawsInsideTheMaximalDelay) {
    const SlotPolicy policy = four_seconds(10);
    const SlotAsk ask{kNoon + 3500ms, 1, 503ms};
    Random random{4};
    std::set<Instant> seen;

    for (int i = 0; i < 1000; ++i) {
        seen.insert(draw_time(policy, ask, kFirst + 1, random));
    }

    EXPECT_EQ(seen.size(), 4U);
    EXPECT_EQ(*seen.begin(), kNoon + 4000ms);
    EXPECT_EQ(*seen.rbegin(), kNoon + 4003ms);
}

TEST(SlotPlanner, SchedulesAtTheRequestedMillisecondWhenNoDelayIsLeft) {
    const SlotPolicy policy{WindowGrid{1ms}, 1};
    const SlotAsk ask{kNoon, 1, 1ms};
    NaiveWindows windows;
    Random random{5};

    const auto placement = place(policy, ask, windows, random);

    ASSERT_TRUE(placement);
    EXPECT_EQ(placement->scheduled, kNoon);
}

TEST(SlotPlanner, TakesTheEarliestWindowWithRoom) {
    const SlotPolicy policy = four_seconds(2);
    NaiveWindows windows;
    windows.set(kFirst, 2);
    windows.set(kFirst + 1, 2);
    windows.set(kFirst + 2, 1);

    EXPECT_EQ(find_window(policy, SlotAsk{kNoon}, windows), kFirst + 2);
}

TEST(SlotPlanner, DoesNotJumpOverAGap) {
    const SlotPolicy policy = four_seconds(2);
    NaiveWindows windows;
    windows.set(kFirst, 2);
    windows.set(kFirst + 2, 1);

    EXPECT_EQ(find_window(policy, SlotAsk{kNoon}, windows), kFirst + 1);
}

TEST(SlotPlanner, CountsWhatTheFirstWindowHoldsAgainstItsSmallerCapacity) {
    const SlotPolicy policy = four_seconds(10);
    NaiveWindows windows;
    windows.set(kFirst, 4);

    EXPECT_EQ(find_window(policy, SlotAsk{kNoon + 2s}, windows), kFirst);

    windows.set(kFirst, 5);
    EXPECT_EQ(find_window(policy, SlotAsk{kNoon + 2s}, windows), kFirst + 1);
}

TEST(SlotPlanner, SkipsAFirstWindowWhoseShareIsNothing) {
    NaiveWindows windows;

    EXPECT_EQ(find_window(four_seconds(1), SlotAsk{kNoon}, windows), kFirst);
    EXPECT_EQ(find_window(four_seconds(1), SlotAsk{kNoon + 1ms}, windows), kFirst + 1);
}

TEST(SlotPlanner, PlacesAWeightOnlyWhereAllOfItFits) {
    const SlotPolicy policy = four_seconds(10);
    NaiveWindows windows;
    windows.set(kFirst, 8);
    windows.set(kFirst + 1, 7);
    windows.set(kFirst + 2, 1);

    EXPECT_EQ(find_window(policy, SlotAsk{kNoon, 2}, windows), kFirst);
    EXPECT_EQ(find_window(policy, SlotAsk{kNoon, 3}, windows), kFirst + 1);
    EXPECT_EQ(find_window(policy, SlotAsk{kNoon, 9}, windows), kFirst + 2);
    EXPECT_EQ(find_window(policy, SlotAsk{kNoon, 10}, windows), kFirst + 3);
    EXPECT_EQ(find_window(policy, SlotAsk{kNoon + 2s, 6}, windows), kFirst + 2);
}

TEST(SlotPlanner, TreatsWindowsFullerThanALoweredCapAsFull) {
    const SlotPolicy policy = four_seconds(3);
    NaiveWindows windows;
    windows.set(kFirst, 10);
    windows.set(kFirst + 1, 3);

    EXPECT_EQ(find_window(policy, SlotAsk{kNoon}, windows), kFirst + 2);
}

TEST(SlotPlanner, ReachesAsManyWindowsAsMaxLookaheadSays) {
    SlotPolicy policy = four_seconds(1);
    policy.max_lookahead = 2;
    NaiveWindows windows;
    windows.set(kFirst, 1);
    windows.set(kFirst + 1, 1);

    EXPECT_EQ(find_window(policy, SlotAsk{kNoon}, windows), kFirst + 2);

    windows.set(kFirst + 2, 1);
    EXPECT_EQ(find_window(policy, SlotAsk{kNoon}, windows), std::nullopt);
}

TEST(SlotPlanner, StaysInTheRequestedWindowWithoutLookahead) {
    SlotPolicy policy = four_seconds(1);
    policy.max_lookahead = 0;
    NaiveWindows windows;

    EXPECT_EQ(find_window(policy, SlotAsk{kNoon}, windows), kFirst);

    windows.set(kFirst, 1);
    EXPECT_EQ(find_window(policy, SlotAsk{kNoon}, windows), std::nullopt);
}

TEST(SlotPlanner, ReachesTenYearsUnlessTold) {
    const WindowRange range = reach(four_seconds(1), SlotAsk{kNoon});

    EXPECT_EQ(range.first, kFirst);
    EXPECT_EQ(range.last, kGrid.index_of(kNoon + kTenYears));
}

TEST(SlotPlanner, ReachesTenYearsAlsoUnderTheLargestLookahead) {
    SlotPolicy policy = four_seconds(1);
    policy.max_lookahead = std::numeric_limits<std::int64_t>::max();

    EXPECT_EQ(reach(policy, SlotAsk{kNoon}).last, kGrid.index_of(kNoon + kTenYears));
}

TEST(SlotPlanner, ReachesTheWindowOfTheLastAllowedInstant) {
    const SlotPolicy policy = four_seconds(1);

    EXPECT_EQ(reach(policy, SlotAsk{kNoon, 1, 3999ms}).last, kFirst);
    EXPECT_EQ(reach(policy, SlotAsk{kNoon, 1, 4000ms}).last, kFirst + 1);
    EXPECT_EQ(reach(policy, SlotAsk{kNoon + 3999ms, 1, 1ms}).last, kFirst + 1);
}

TEST(SlotPlanner, IsExhaustedOnlyWhenEveryWindowWithinReachIsFull) {
    const SlotPolicy policy = four_seconds(5);
    const SlotAsk ask{kNoon, 1, 39'999ms};
    for (WindowIndex hole = kFirst; hole < kFirst + 10; ++hole) {
        NaiveWindows windows;
        for (WindowIndex window = kFirst; window < kFirst + 10; ++window) {
            windows.set(window, window == hole ? 4 : 5);
        }
        EXPECT_EQ(find_window(policy, ask, windows), hole);

        windows.set(hole, 5);
        EXPECT_EQ(find_window(policy, ask, windows), std::nullopt);
    }
}

TEST(SlotPlanner, QuotesTheEarliestInstantOfAWindow) {
    const SlotPolicy policy = four_seconds(5);

    EXPECT_EQ(earliest_in(policy, SlotAsk{kNoon + 1s}, kFirst), kNoon + 1s);
    EXPECT_EQ(earliest_in(policy, SlotAsk{kNoon + 1s}, kFirst + 3), kNoon + 12s);
}

TEST(SlotPlanner, PlacesInTheWindowThatItFindsAndChangesNoCounts) {
    const SlotPolicy policy = four_seconds(5);
    NaiveWindows windows;
    windows.set(kFirst, 5);
    Random random{6};

    const auto placement = place(policy, SlotAsk{kNoon}, windows, random);

    ASSERT_TRUE(placement);
    EXPECT_EQ(placement->window, kFirst + 1);
    EXPECT_EQ(kGrid.index_of(placement->scheduled), kFirst + 1);
    EXPECT_EQ(windows.held(kFirst + 1), 0U);
}

TEST(SlotPlanner, DrawsNoNumberForAnEventThatItCannotPlace) {
    SlotPolicy policy = four_seconds(1);
    policy.max_lookahead = 0;
    NaiveWindows windows;
    windows.set(kFirst, 1);
    Random used{7};
    Random fresh{7};

    EXPECT_EQ(place(policy, SlotAsk{kNoon}, windows, used), std::nullopt);
    EXPECT_EQ(used.next(), fresh.next());
}

}  // namespace
}  // namespace sluice
