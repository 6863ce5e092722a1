#include "app/slots/ledger_state.hpp"

#include <gtest/gtest.h>

#include "store/memory/memory_slot_tables.hpp"
#include "support/counting_metrics.hpp"
#include "support/faulty_tables.hpp"
#include "support/hand_clock.hpp"
#include "support/recording_log.hpp"
#include "support/slot_words.hpp"

namespace sluice {
namespace {

using namespace test;

class LedgerStateTest : public testing::Test {
protected:
    static constexpr WindowIndex kChunk = 4096;

    // Asks for the counts of so many chunks of one pool.
    void touch(const Pool& pool, WindowIndex chunks) {
        for (WindowIndex chunk = 0; chunk < chunks; ++chunk) {
            state_.windows_of(pool).held(chunk * kChunk);
        }
    }
    [[nodiscard]] std::size_t scans() const { return tables_.calls(TableCall::ScanCounts); }

    HandClock clock_{kNoon};
    CountingMetrics metrics_;
    RecordingLog log_;
    FaultyTables tables_{std::shared_ptr<SlotTables>{make_memory_slot_tables()}};
    LedgerState state_{tables_, ConfigCache{std::chrono::seconds{5}, clock_, metrics_, log_}, Random{1}};
    const Pool one_{PoolId{1}, pool("one"), std::chrono::seconds{1}};
    const Pool two_{PoolId{2}, pool("two"), std::chrono::seconds{1}};
};

TEST_F(LedgerStateTest, ReadsAgainWhatItForgotForTheSizeOfAllPoolsTogether) {
    SlotChanges changes;
    changes.counts.push_back({one_.id, 7, {5}});
    ASSERT_TRUE(tables_.commit(changes));
    touch(one_, 105'000);
    touch(two_, 105'000);
    const std::size_t before = scans();

    state_.forget_if_large();

    EXPECT_EQ(state_.windows_of(one_).held(7), 5U);
    EXPECT_EQ(scans(), before + 1);
}

TEST_F(LedgerStateTest, ForgetsNothingWhileItIsSmall) {
    touch(one_, 10);

    state_.forget_if_large();
    touch(one_, 10);

    EXPECT_EQ(scans(), 10U);
}

TEST_F(LedgerStateTest, SaysWhichCountsCouldNotBeRead) {
    tables_.arm({TableCall::ScanCounts, 2});

    touch(one_, 1);
    EXPECT_FALSE(state_.failure().has_value());
    touch(two_, 1);
    EXPECT_TRUE(state_.failure().has_value());
}

}  // namespace
}  // namespace sluice
