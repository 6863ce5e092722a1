#include "app/slots/pool_windows.hpp"

#include <gtest/gtest.h>

#include "store/memory/memory_slot_tables.hpp"
#include "support/faulty_tables.hpp"

namespace sluice {
namespace {

using namespace test;

constexpr PoolId kPool{3};
constexpr WindowIndex kBase = 4096 * 100;

class PoolWindowsTest : public testing::Test {
protected:
    void store(WindowRange range, Places places, PoolId pool = kPool) {
        SlotChanges changes;
        for (WindowIndex window = range.first; window <= range.last; ++window) {
            changes.counts.push_back({pool, window, {places}});
        }
        ASSERT_TRUE(tables_.commit(changes));
    }
    [[nodiscard]] std::size_t scans() const { return tables_.calls(TableCall::ScanCounts); }

    FaultyTables tables_{std::shared_ptr<SlotTables>{make_memory_slot_tables()}};
    PoolWindows windows_{[this](WindowRange range, const SlotTables::CountSink& sink) {
        return tables_.scan_counts(kPool, range, sink);
    }};
};

TEST_F(PoolWindowsTest, ReadsNothingUntilAsked) { EXPECT_EQ(scans(), 0U); }

TEST_F(PoolWindowsTest, ReadsAChunkOnce) {
    store({kBase, kBase + 9}, 5);

    EXPECT_EQ(windows_.held(kBase), 5U);
    EXPECT_EQ(windows_.held(kBase + 9), 5U);
    EXPECT_EQ(windows_.held(kBase + 10), 0U);
    EXPECT_EQ(windows_.held(kBase + 4095), 0U);
    EXPECT_EQ(scans(), 1U);
}

TEST_F(PoolWindowsTest, SeesOnlyItsOwnPool) {
    store({kBase, kBase}, 5, PoolId{2});
    store({kBase, kBase}, 6, PoolId{4});

    EXPECT_EQ(windows_.held(kBase), 0U);
}

TEST_F(PoolWindowsTest, SearchesThroughChunksThatItHasNotRead) {
    store({kBase, kBase + 3 * 4096 + 17}, 5);

    EXPECT_EQ(windows_.earliest_holding_at_most({kBase, kBase + 100 * 4096}, 4), kBase + 3 * 4096 + 18);
    EXPECT_EQ(scans(), 4U);
}

TEST_F(PoolWindowsTest, FindsTheHoleOfAChunkThatItHasNotRead) {
    store({kBase, kBase + 5000}, 5);
    store({kBase + 4500, kBase + 4500}, 4);

    EXPECT_EQ(windows_.earliest_holding_at_most({kBase, kBase + 100 * 4096}, 4), kBase + 4500);
}

TEST_F(PoolWindowsTest, SearchesNotPastTheRange) {
    store({kBase, kBase + 9999}, 5);

    EXPECT_EQ(windows_.earliest_holding_at_most({kBase, kBase + 9999}, 4), std::nullopt);
    EXPECT_EQ(windows_.earliest_holding_at_most({kBase, kBase + 10'000}, 4), kBase + 10'000);
}

TEST_F(PoolWindowsTest, AddsToWhatIsStored) {
    store({kBase, kBase}, 5);

    windows_.take(SlotPolicy{}, Placement{kBase, Instant{}}, 2);
    EXPECT_EQ(windows_.held(kBase), 7U);

    windows_.give_back(kBase, 6, Duration{1000}, Duration{0});
    EXPECT_EQ(windows_.held(kBase), 1U);
}

TEST_F(PoolWindowsTest, SaysSoWhenReadingFailed) {
    tables_.arm({TableCall::ScanCounts, 2});

    windows_.held(kBase);
    EXPECT_FALSE(windows_.failure());

    windows_.held(kBase + 4096);
    ASSERT_TRUE(windows_.failure());
    EXPECT_EQ(windows_.failure()->what, "broken by the test");
}

TEST_F(PoolWindowsTest, TellsHowMuchItKeeps) {
    const std::size_t before = windows_.entries();

    windows_.held(kBase);
    EXPECT_EQ(windows_.entries(), before + 1);

    windows_.take(SlotPolicy{}, Placement{kBase, Instant{}}, 1);
    EXPECT_GT(windows_.entries(), before + 1);
}

}  // namespace
}  // namespace sluice
