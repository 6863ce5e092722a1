// The horizon of a ledger, before which slots are forgotten and windows closed, over each of its tables. What
// every store promises of retention is in slot_retention_contract.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/slots/slot_ledger.hpp"
#include "store/memory/memory_slot_tables.hpp"
#include "support/counting_metrics.hpp"
#include "support/hand_clock.hpp"
#include "support/recording_log.hpp"
#include "support/rocks_tables.hpp"
#include "support/shared_tables.hpp"
#include "support/slot_words.hpp"
#include "support/temp_folder.hpp"

namespace sluice::test {
namespace {

using testing::IsEmpty;

enum class Kind { Memory, Rocks };

class LedgerHorizon : public testing::TestWithParam<Kind> {
protected:
    void SetUp() override {
        start();
        ASSERT_TRUE(ledger_->put_config(draft("a", 2, 4s)));
    }
    void start() {
        ledger_.reset();
        if (GetParam() == Kind::Rocks) {
            tables_.reset();
            tables_ = open_rocks_tables({.path = temp_ / "data"}).value();
        }
        LedgerOptions options;
        options.retention = std::chrono::days{2};
        ledger_ =
            make_slot_ledger(std::make_unique<SharedTables>(tables_), options, {clock_, metrics_, log_});
    }
    SlotOutcome ask(std::string_view id, Instant requested) {
        return run_one(*ledger_, assign(id, "a", SlotAsk{requested}));
    }
    bool knows(std::string_view id) { return ledger_->find(event(id)).has_value(); }
    void expect_counters_right() {
        const auto report = recount(*tables_);
        ASSERT_TRUE(report);
        EXPECT_THAT(report->differences, IsEmpty());
    }
    // Any command lets the ledger look at the clock.
    void pass(Duration time) {
        clock_.advance(time);
        static_cast<void>(run_one(*ledger_, CancelSlot{event("nobody")}));
    }

    TempFolder temp_;
    HandClock clock_{kNoon};
    CountingMetrics metrics_;
    RecordingLog log_;
    std::shared_ptr<SlotTables> tables_ = make_memory_slot_tables();
    std::unique_ptr<SlotStore> ledger_;
};

TEST_P(LedgerHorizon, PutsNothingIntoTimesThatAreForgotten) {
    pass(72h);
    const Instant horizon = kNoon + 24h;

    for (int i = 0; i < 5; ++i) {
        const auto placed = ask("late" + std::to_string(i), kNoon);
        ASSERT_TRUE(placed);
        EXPECT_GE(placed->slot.scheduled, horizon);
        EXPECT_EQ(placed->slot.requested, kNoon);
        EXPECT_TRUE(knows("late" + std::to_string(i)));
    }
    expect_counters_right();
    SlotAsk soon{kNoon};
    soon.max_delay = 1h;
    EXPECT_EQ(run_one(*ledger_, assign("never", "a", soon)).error().fault, SlotFault::Exhausted);
}

TEST_P(LedgerHorizon, CancelsAndMovesWhatStandsInAWindowThatIsCutByTheHorizon) {
    ASSERT_TRUE(ledger_->put_config(draft("b", 10, 7h)));
    std::vector<EventId> ids;
    for (int i = 0; i < 10; ++i) {
        ids.push_back(event("b" + std::to_string(i)));
        ASSERT_TRUE(run_one(*ledger_, assign(ids.back(), "b", SlotAsk{kNoon})));
    }

    for (int hour = 0; hour < 10; ++hour) {
        pass(hour == 0 ? 48h : 1h);
        expect_counters_right();
        for (const EventId& id : ids) {
            if (const auto story = ledger_->find(id); story && story->slot.revision == 0) {
                EXPECT_GE(story->slot.scheduled, clock_.now() - 49h);
                ASSERT_TRUE(hour % 2 == 0 ? run_one(*ledger_, CancelSlot{id})
                                          : run_one(*ledger_, MoveSlot{id, clock_.now()}));
                break;
            }
        }
        expect_counters_right();
    }
}

TEST_P(LedgerHorizon, StaysForgottenAfterARestartAndWhenTheClockStepsBack) {
    ASSERT_TRUE(ask("old", kNoon));
    pass(49h);

    clock_.set(kNoon);
    start();

    EXPECT_FALSE(knows("old"));
    EXPECT_GE(ask("old", kNoon)->slot.scheduled, kNoon + 1h);
    expect_counters_right();
}

INSTANTIATE_TEST_SUITE_P(OverEach, LedgerHorizon, testing::Values(Kind::Memory, Kind::Rocks),
                         [](const auto& one) { return one.param == Kind::Memory ? "Memory" : "Rocks"; });

}  // namespace
}  // namespace sluice::test
