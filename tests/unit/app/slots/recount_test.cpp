#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/slots/slot_ledger.hpp"
#include "store/memory/memory_slot_tables.hpp"
#include "support/counting_metrics.hpp"
#include "support/faulty_tables.hpp"
#include "support/hand_clock.hpp"
#include "support/recording_log.hpp"
#include "support/slot_words.hpp"

namespace sluice {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::IsEmpty;

// Five slots under a cap of two, in windows of a second: 2, 2 and 1.
class RecountTest : public testing::Test {
protected:
    RecountTest() {
        const auto ledger =
            make_slot_ledger(std::make_unique<SharedTables>(tables_), {}, {clock_, metrics_, log_});
        EXPECT_TRUE(ledger->put_config(draft("a", 2, 1s)));
        for (std::size_t i = 0; i < 5; ++i) {
            EXPECT_TRUE(run_one(*ledger, assign(event(i), "a", SlotAsk{kNoon})));
        }
    }

    void overwrite(Instant window, Places places) {
        SlotChanges changes;
        changes.counts.push_back({PoolId{1}, WindowGrid{1s}.index_of(window), {places}});
        ASSERT_TRUE(tables_->commit(changes));
    }

    HandClock clock_{kNoon};
    CountingMetrics metrics_;
    RecordingLog log_;
    std::shared_ptr<SlotTables> tables_ = make_memory_slot_tables();
};

TEST_F(RecountTest, FindsNothingToSayAboutTrueCounters) {
    const auto report = recount(*tables_);

    ASSERT_TRUE(report);
    EXPECT_EQ(report->slots, 5U);
    EXPECT_EQ(report->windows, 3U);
    EXPECT_THAT(report->differences, IsEmpty());
}

TEST_F(RecountTest, NamesAWindowWhoseCounterIsWrong) {
    overwrite(kNoon + 1s, 1);

    EXPECT_THAT(
        recount(*tables_)->differences,
        ElementsAre("Pool 'a', window 2025-06-01T12:00:01.000Z: the counter says 1, its slots are 2."));
}

TEST_F(RecountTest, NamesACounterWithoutSlotsAndSlotsWithoutACounter) {
    overwrite(kNoon, 0);
    overwrite(kNoon + 9s, 4);

    EXPECT_THAT(
        recount(*tables_)->differences,
        ElementsAre("Pool 'a', window 2025-06-01T12:00:00.000Z: the counter says 0, its slots are 2.",
                    "Pool 'a', window 2025-06-01T12:00:09.000Z: the counter says 4, its slots are 0."));
}

TEST_F(RecountTest, NamesAWindowAboveEveryCapItEverHad) {
    SlotChanges changes;
    changes.slots.push_back(Slot{event("extra"), ConfigId{1}, kNoon, kNoon, kNoon + 1ms});
    changes.counts.push_back({PoolId{1}, WindowGrid{1s}.index_of(kNoon), {3}});
    ASSERT_TRUE(tables_->commit(changes));

    EXPECT_THAT(
        recount(*tables_)->differences,
        ElementsAre("Pool 'a', window 2025-06-01T12:00:00.000Z holds 3, above every cap it ever had (2)."));
}

TEST_F(RecountTest, NamesASlotOfAConfigThatDoesNotExist) {
    SlotChanges changes;
    changes.slots.push_back(Slot{event("stray"), ConfigId{77}, kNoon, kNoon, kNoon + 1ms});
    ASSERT_TRUE(tables_->commit(changes));

    EXPECT_THAT(recount(*tables_)->differences,
                ElementsAre("Event 'stray' names a config that does not exist."));
}

TEST_F(RecountTest, CountsWeightsAndNoCancelledSlots) {
    SlotChanges changes;
    Slot heavy{event("heavy"), ConfigId{1}, kNoon, kNoon + 5s, kNoon + 5s, 2};
    Slot cancelled{event("cancelled"), ConfigId{1}, kNoon, kNoon + 6s, kNoon + 6s};
    cancelled.state = SlotState::Cancelled;
    changes.slots = {heavy, cancelled};
    changes.counts.push_back({PoolId{1}, WindowGrid{1s}.index_of(kNoon + 5s), {2}});
    ASSERT_TRUE(tables_->commit(changes));

    EXPECT_THAT(recount(*tables_)->differences, IsEmpty());
}

TEST_F(RecountTest, ListsTheFirstHundredDifferences) {
    for (int i = 0; i < 150; ++i) {
        overwrite(kNoon + 100s + i * 1s, 1);
    }

    EXPECT_EQ(recount(*tables_)->differences.size(), 100U);
}

TEST_F(RecountTest, FailsWhenTheTablesCannotBeRead) {
    for (const TableCall call : {TableCall::LoadConfigs, TableCall::ScanSlots, TableCall::ScanCounts}) {
        FaultyTables faulty{tables_};
        faulty.arm({call, 1});

        const auto report = recount(faulty);

        ASSERT_FALSE(report);
        EXPECT_EQ(report.error().what, "broken by the test");
    }
}

}  // namespace
}  // namespace sluice
