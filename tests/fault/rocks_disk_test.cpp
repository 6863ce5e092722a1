// The embedded store on a small disk that it fills by itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/slots/slot_ledger.hpp"
#include "base/random.hpp"
#include "store/rocks/slots/rocks_slot_tables.hpp"
#include "support/counting_metrics.hpp"
#include "support/hand_clock.hpp"
#include "support/recording_log.hpp"
#include "support/slot_words.hpp"
#include "support/small_disk.hpp"

namespace sluice::test {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing::Not;

std::string random_id(Random& random) {
    std::string id;
    for (int i = 0; i < 12; ++i) {
        id += std::to_string(random.next());
    }
    return id;
}

class RocksOnASmallDisk : public testing::TestWithParam<DiskKind> {
protected:
    void start(std::uint64_t reserve) {
        ledger_.reset();
        auto tables = open_rocks_slot_tables({.path = disk_ / "data", .log = &log_, .reserve = reserve});
        ASSERT_TRUE(tables) << tables.error().what;
        ledger_ = make_slot_ledger(std::move(*tables), {}, {clock_, metrics_, log_});
    }
    // The first event that found no room.
    SlotFault fill() {
        for (int batch = 0; batch < 10'000; ++batch) {
            std::vector<SlotCommand> commands;
            for (int i = 0; i < 200; ++i) {
                commands.emplace_back(assign(random_id(random_), "a", SlotAsk{kNoon}));
            }
            for (const SlotReply& reply : ledger_->execute(commands)) {
                if (const auto& outcome = std::get<SlotOutcome>(reply); !outcome) {
                    return outcome.error().fault;
                }
            }
        }
        return SlotFault::UnknownEvent;
    }

    SmallDisk disk_{GetParam(), 128};
    HandClock clock_{kNoon};
    CountingMetrics metrics_;
    RecordingLog log_;
    Random random_{17};
    std::unique_ptr<SlotStore> ledger_;
};

// What stands in the log only must be sorted in yet: that room is kept beside the reserve.
TEST_P(RocksOnASmallDisk, RefusesBeforeItIsFullHoweverSmallTheReserveIs) {
    for (const std::uint64_t reserve : {std::uint64_t{0}, std::uint64_t{8} << 20U}) {
        SCOPED_TRACE(reserve);
        ASSERT_NO_FATAL_FAILURE(start(reserve));
        ASSERT_TRUE(ledger_->put_config(draft("a", 1'000'000'000, 1s)));
        static_cast<void>(run_one(*ledger_, assign("known", "a", SlotAsk{kNoon})));

        EXPECT_EQ(fill(), SlotFault::StoreFull);

        EXPECT_TRUE(ledger_->available());
        EXPECT_TRUE(ledger_->find(event("known")));
        ASSERT_NO_FATAL_FAILURE(start(reserve));
        EXPECT_TRUE(run_one(*ledger_, CancelSlot{event("known")}));
        EXPECT_THAT(log_.lines(), Each(Not(HasSubstr("No space left"))));
        EXPECT_EQ(log_.count_starting("ERROR SlotLedger - Store failed"), 0U);
    }
}

INSTANTIATE_TEST_SUITE_P(OnEach, RocksOnASmallDisk, testing::Values(DiskKind::Tmpfs, DiskKind::Ext4),
                         [](const auto& one) { return one.param == DiskKind::Tmpfs ? "Tmpfs" : "Ext4"; });

}  // namespace
}  // namespace sluice::test
