#include "core/slots/occupancy.hpp"

#include <string>

#include <gtest/gtest.h>

#include "base/random.hpp"
#include "support/naive_windows.hpp"

namespace sluice {
namespace {

using test::NaiveWindows;

constexpr WindowIndex kEnd = (WindowIndex{1} << 48) - 1;

TEST(Occupancy, HoldsNothingAtFirst) {
    Occupancy occupancy;

    EXPECT_EQ(occupancy.held(0), 0U);
    EXPECT_EQ(occupancy.held(kEnd), 0U);
    EXPECT_EQ(occupancy.earliest_holding_at_most({5, kEnd}, 0), 5);
}

TEST(Occupancy, HoldsTheFirstAndTheLastWindow) {
    Occupancy occupancy;

    occupancy.set(0, 3);
    occupancy.set(kEnd, 4);

    EXPECT_EQ(occupancy.held(0), 3U);
    EXPECT_EQ(occupancy.held(1), 0U);
    EXPECT_EQ(occupancy.held(kEnd), 4U);
    EXPECT_EQ(occupancy.earliest_holding_at_most({kEnd, kEnd}, 3), std::nullopt);
    EXPECT_EQ(occupancy.earliest_holding_at_most({kEnd, kEnd}, 4), kEnd);
    EXPECT_EQ(occupancy.earliest_holding_at_most({0, kEnd}, 0), 1);
}

TEST(Occupancy, FindsNothingPastTheEndOfTheRange) {
    Occupancy occupancy;
    for (WindowIndex window = 100; window < 300; ++window) {
        occupancy.set(window, 9);
    }

    EXPECT_EQ(occupancy.earliest_holding_at_most({100, 299}, 8), std::nullopt);
    EXPECT_EQ(occupancy.earliest_holding_at_most({100, 300}, 8), 300);
    EXPECT_EQ(occupancy.earliest_holding_at_most({99, 299}, 8), 99);
}

TEST(Occupancy, KeepsALongFullRunInAFewNodes) {
    Occupancy occupancy;
    constexpr WindowIndex kFrom = 435'000'123;
    constexpr WindowIndex kRun = 100'000;

    for (WindowIndex window = kFrom; window < kFrom + kRun; ++window) {
        for (Places places = 1; places <= 5; ++places) {
            occupancy.add(window, 1);
        }
        ASSERT_LT(occupancy.nodes(), 40U) << "after " << window - kFrom << " windows";
    }

    EXPECT_EQ(occupancy.earliest_holding_at_most({kFrom, kEnd}, 4), kFrom + kRun);
    EXPECT_EQ(occupancy.held(kFrom + kRun / 2), 5U);
}

TEST(Occupancy, GivesAllNodesBackWhenAllIsRemoved) {
    Occupancy occupancy;
    Random random{17};
    std::vector<WindowIndex> windows;
    for (int i = 0; i < 2000; ++i) {
        windows.push_back(static_cast<WindowIndex>(random.below(1'000'000)));
        occupancy.add(windows.back(), 2);
    }
    EXPECT_GT(occupancy.nodes(), 500U);

    for (const WindowIndex window : windows) {
        occupancy.remove(window, 2);
    }

    EXPECT_EQ(occupancy.nodes(), 1U);
    EXPECT_EQ(occupancy.earliest_holding_at_most({0, kEnd}, 0), 0);
}

TEST(Occupancy, AnswersForSeveralCapsAtOnce) {
    Occupancy occupancy;
    for (WindowIndex window = 0; window < 1000; ++window) {
        occupancy.set(window, window < 500 ? 10 : 7);
    }

    EXPECT_EQ(occupancy.earliest_holding_at_most({0, kEnd}, 10), 0);
    EXPECT_EQ(occupancy.earliest_holding_at_most({0, kEnd}, 9), 500);
    EXPECT_EQ(occupancy.earliest_holding_at_most({0, kEnd}, 7), 500);
    EXPECT_EQ(occupancy.earliest_holding_at_most({0, kEnd}, 6), 1000);
}

TEST(Occupancy, OpensEveryWindowAtOnceWhenACapIsRaised) {
    Occupancy occupancy;
    for (WindowIndex window = 64; window < 64 + 8192; ++window) {
        occupancy.set(window, 5);
    }
    EXPECT_EQ(occupancy.earliest_holding_at_most({64, kEnd}, 4), 64 + 8192);

    EXPECT_EQ(occupancy.earliest_holding_at_most({64, kEnd}, 5), 64);
}

TEST(Occupancy, FindsAPlaceGivenBackInsideAFullRun) {
    Occupancy occupancy;
    for (WindowIndex window = 0; window < 20'000; ++window) {
        occupancy.set(window, 5);
    }

    occupancy.remove(12'345, 1);

    EXPECT_EQ(occupancy.earliest_holding_at_most({0, kEnd}, 4), 12'345);
    EXPECT_EQ(occupancy.earliest_holding_at_most({12'346, kEnd}, 4), 20'000);

    occupancy.add(12'345, 1);
    EXPECT_EQ(occupancy.earliest_holding_at_most({0, kEnd}, 4), 20'000);
}

TEST(Occupancy, KeepsItsCountsWhenMoved) {
    Occupancy first;
    first.set(77, 3);

    Occupancy second = std::move(first);

    EXPECT_EQ(second.held(77), 3U);
}

// Every operation against a map that is searched window by window, dense enough that runs fill and empty.
TEST(Occupancy, AgreesWithAMapOnARandomHistory) {
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Random random{seed};
        Occupancy occupancy;
        NaiveWindows naive;
        const WindowIndex base = seed % 2 == 0 ? 0 : 435'000'000;
        const auto some_window = [&] { return base + static_cast<WindowIndex>(random.below(400)); };
        for (int step = 0; step < 10'000; ++step) {
            const WindowIndex window = some_window();
            const auto places = static_cast<Places>(1 + random.below(3));
            if (random.below(3) > 0) {
                occupancy.add(window, places);
                naive.add(window, places);
            } else if (naive.held(window) >= places) {
                occupancy.remove(window, places);
                naive.remove(window, places);
            }
            const WindowIndex one = some_window();
            const WindowIndex other = some_window();
            const WindowRange range{std::min(one, other), std::max(one, other)};
            const auto held_max = static_cast<Places>(random.below(40));

            ASSERT_EQ(occupancy.held(one), naive.held(one));
            ASSERT_EQ(occupancy.earliest_holding_at_most(range, held_max),
                      naive.earliest_holding_at_most(range, held_max));
        }
    }
}

}  // namespace
}  // namespace sluice
