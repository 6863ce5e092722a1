#include "core/slots/window_cells.hpp"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

constexpr OffsetRange kWhole{0ms, 999ms};

// Takes what is picked, and tells where.
WindowCells::Pick take(WindowCells& cells, OffsetRange range, Places weight, Random& random) {
    const auto pick = cells.pick(1s, range, weight, random);
    EXPECT_TRUE(pick);
    cells.take(pick->cells);
    return *pick;
}

TEST(WindowCells, CutAWindowIntoPartsThatDifferByAMillisecondAtMost) {
    std::vector<int> lengths(7);
    for (Duration offset = 0ms; offset < 1s; ++offset) {
        ++lengths.at(cell_of(offset, 1s, 7));
    }

    EXPECT_THAT(lengths, ElementsAre(142, 143, 143, 143, 143, 143, 143));
    EXPECT_EQ(cell_of(0ms, 4096ms, 4096), 0);
    EXPECT_EQ(cell_of(4095ms, 4096ms, 4096), 4095);
}

TEST(WindowCells, GiveEveryEventACellOfItsOwnUntilNoneIsFree) {
    WindowCells cells{20};
    Random random{1};
    std::set<Cell> taken;
    for (int i = 0; i < 20; ++i) {
        const auto pick = take(cells, kWhole, 1, random);
        EXPECT_THAT(pick.cells, ElementsAre(cell_of(pick.offset, 1s, 20)));
        taken.insert(pick.cells.front());
    }

    EXPECT_EQ(taken.size(), 20U);
    EXPECT_FALSE(cells.pick(1s, kWhole, 1, random));
    EXPECT_FALSE(cells.fits(1s, kWhole, 1));
}

TEST(WindowCells, KeepTheTimeWithinTheRange) {
    Random random{2};
    for (int i = 0; i < 200; ++i) {
        const auto pick = WindowCells{10}.pick(1s, {150ms, 249ms}, 1, random);

        ASSERT_TRUE(pick);
        EXPECT_GE(pick->offset, 150ms);
        EXPECT_LE(pick->offset, 249ms);
    }
}

TEST(WindowCells, DrawTimesFromTheWholeOfACell) {
    Random random{3};
    std::set<Duration> drawn;
    for (int i = 0; i < 400; ++i) {
        drawn.insert(WindowCells{100}.pick(1s, {500ms, 509ms}, 1, random)->offset);
    }

    EXPECT_EQ(drawn.size(), 10U);
}

TEST(WindowCells, ChooseNeighboursForAWeight) {
    WindowCells cells{8};
    Random random{4};
    cells.take(std::vector<Cell>{1});
    cells.take(std::vector<Cell>{5});

    // Free in pairs: 0 2, 3 4, 6 7. The first of them are apart.
    for (int i = 0; i < 2; ++i) {
        const auto pick = take(cells, kWhole, 2, random);
        EXPECT_EQ(pick.cells[1], pick.cells[0] + 1);
        EXPECT_EQ(cell_of(pick.offset, 1s, 8), pick.cells[0]);
    }
    EXPECT_THAT(take(cells, kWhole, 2, random).cells, ElementsAre(0, 2));
}

TEST(WindowCells, GiveBackAllThatAnEventHas) {
    WindowCells cells{6};
    Random random{5};
    const auto heavy = take(cells, kWhole, 4, random);
    const auto light = take(cells, kWhole, 1, random);
    ASSERT_FALSE(cells.fits(1s, kWhole, 2));

    cells.release(1s, heavy.offset);

    EXPECT_TRUE(cells.fits(1s, kWhole, 5));
    EXPECT_FALSE(cells.fits(1s, kWhole, 6));
    cells.release(1s, light.offset);
    EXPECT_EQ(cells, WindowCells{6});
}

TEST(WindowCells, AreRestoredOnlyAsAWindowCanHaveThem) {
    constexpr Cell kFree = WindowCells::kFree;
    WindowCells cells{4};
    cells.take(std::vector<Cell>{1, 3});

    EXPECT_EQ(WindowCells::restore({kFree, 1, kFree, 1}), cells);
    EXPECT_FALSE(WindowCells::restore({}));
    EXPECT_FALSE(WindowCells::restore({kFree, 0}));  // Nobody's first cell.
    EXPECT_FALSE(WindowCells::restore({1, 1}));      // The first of them comes first.
}

}  // namespace
}  // namespace sluice
