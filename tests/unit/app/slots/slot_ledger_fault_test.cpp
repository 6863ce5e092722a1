#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/slots/slot_ledger.hpp"
#include "store/memory/memory_slot_tables.hpp"
#include "support/counting_metrics.hpp"
#include "support/faulty_tables.hpp"
#include "support/hand_clock.hpp"
#include "support/recording_log.hpp"
#include "support/slot_words.hpp"
#include "support/stubborn_workload.hpp"

namespace sluice {
namespace {

using namespace test;
using testing::IsEmpty;

constexpr Duration kRecoveryPause{200};

// A ledger over tables that fail on command, and a second look at the same tables.
class Broken {
public:
    explicit Broken(TableFault fault, bool from_the_start = false) {
        auto faulty = std::make_unique<FaultyTables>(tables);
        faults = faulty.get();
        if (from_the_start) {
            faults->arm(fault);
        }
        ledger = make_slot_ledger(std::move(faulty), {}, {clock, metrics, log});
        if (!from_the_start) {
            faults->arm(fault);
        }
    }

    HandClock clock{kNoon};
    CountingMetrics metrics;
    RecordingLog log;
    std::shared_ptr<SlotTables> tables = make_memory_slot_tables();
    FaultyTables* faults = nullptr;
    std::unique_ptr<SlotStore> ledger;
};

struct Case {
    std::string name;
    TableFault fault;  // `nth` is set by the test, to every number there is.
    bool from_the_start = false;
};

void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }

class SlotLedgerUnderFaults : public testing::TestWithParam<Case> {};

TEST_P(SlotLedgerUnderFaults, LosesNothingAndRecoversWhicheverCallFails) {
    std::size_t nth = 1;
    for (;; ++nth) {
        SCOPED_TRACE("call " + std::to_string(nth) + " fails");
        TableFault fault = GetParam().fault;
        fault.nth = nth;
        Broken world{fault, GetParam().from_the_start};
        StubbornWorkload workload;

        workload.run({*world.ledger, world.clock, [&] { world.faults->heal(); },
                      [&] { return world.faults->committed(); }});
        const bool fired = world.faults->fired() > 0;
        world.faults->heal();
        world.clock.advance(kRecoveryPause);

        EXPECT_TRUE(world.ledger->available());
        workload.check(*world.ledger);
        const auto report = recount(*world.tables);
        EXPECT_THAT(report->differences, IsEmpty());
        EXPECT_EQ(report->slots, workload.acknowledged());
        if (!fired || HasFailure()) {
            break;
        }
    }
    EXPECT_GT(nth, 1U) << "no call was ever broken";
}

std::vector<Case> cases() {
    std::vector<Case> all;
    const auto add = [&all](const std::string& name, TableCall call, Truth truth, bool from_the_start) {
        all.push_back({name + "Once", {call, 1, Lasting::Once, truth}, from_the_start});
        all.push_back({name + "Lasting", {call, 1, Lasting::UntilHealed, truth}, from_the_start});
    };
    add("Commit", TableCall::Commit, Truth::NotDone, false);
    add("CommitOfUnknownOutcome", TableCall::Commit, Truth::DoneAllTheSame, false);
    add("Find", TableCall::Find, Truth::NotDone, false);
    add("ScanCounts", TableCall::ScanCounts, Truth::NotDone, false);
    add("LoadConfigs", TableCall::LoadConfigs, Truth::NotDone, true);
    return all;
}

INSTANTIATE_TEST_SUITE_P(EveryCall, SlotLedgerUnderFaults, testing::ValuesIn(cases()),
                         [](const auto& one) { return one.param.name; });

class SlotLedgerBroken : public testing::Test {
protected:
    // A ledger with one slot, whose next commit fails and is not made.
    void break_it() {
        ASSERT_TRUE(world_.ledger->put_config(draft("a", 2, 1s)));
        ASSERT_TRUE(run_one(*world_.ledger, assign("known", "a", SlotAsk{kNoon})));
        world_.faults->arm({TableCall::Commit, 1, Lasting::UntilHealed});
        ASSERT_FALSE(run_one(*world_.ledger, assign("lost", "a", SlotAsk{kNoon})));
    }

    Broken world_{{TableCall::Commit, 1'000'000}};
};

TEST_F(SlotLedgerBroken, AnswersWhatItKnowsAndAssignsNothing) {
    break_it();

    EXPECT_TRUE(world_.ledger->find(event("known")));
    EXPECT_TRUE(world_.ledger->active_config(config("a")));
    EXPECT_FALSE(world_.ledger->available());
    EXPECT_EQ(world_.ledger->put_config(draft("b", 1, 1s)).error().fault, SlotFault::Unavailable);
    EXPECT_EQ(run_one(*world_.ledger, assign("known", "a", SlotAsk{kNoon})).error().fault,
              SlotFault::Unavailable);
}

// The counts in memory hold a place that was never stored: nothing may be told from them.
TEST_F(SlotLedgerBroken, TellsNothingFromCountsThatWereNotStored) {
    break_it();

    const auto report = world_.ledger->windows(config("a"), {kNoon, kNoon + 1s});
    const auto quote = world_.ledger->quote({std::nullopt, config("a"), SlotAsk{kNoon}});

    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().fault, SlotFault::Unavailable);
    ASSERT_FALSE(quote);
    EXPECT_EQ(quote.error().fault, SlotFault::Unavailable);
    world_.faults->heal();
    world_.clock.advance(kRecoveryPause);
    EXPECT_EQ(world_.ledger->windows(config("a"), {kNoon, kNoon + 1s})->windows.front().count, 1U);
    EXPECT_EQ(world_.ledger->quote({std::nullopt, config("a"), SlotAsk{kNoon}})->window_start, kNoon);
}

TEST_F(SlotLedgerBroken, WaitsBetweenAttemptsToRecover) {
    break_it();
    world_.faults->arm({TableCall::Reopen, 1, Lasting::UntilHealed});

    EXPECT_FALSE(world_.ledger->available());
    EXPECT_EQ(world_.faults->calls(TableCall::Reopen), 0U);

    world_.clock.advance(kRecoveryPause);
    EXPECT_FALSE(world_.ledger->available());
    EXPECT_FALSE(world_.ledger->available());
    EXPECT_EQ(world_.faults->calls(TableCall::Reopen), 1U);
}

TEST_F(SlotLedgerBroken, RecoversWhenAskedWhetherItIsAvailable) {
    break_it();
    world_.faults->heal();
    world_.clock.advance(kRecoveryPause);

    EXPECT_TRUE(world_.ledger->available());

    EXPECT_TRUE(world_.log.has("INFO SlotLedger - Store recovered, assigning goes on"));
    EXPECT_TRUE(run_one(*world_.ledger, assign("lost", "a", SlotAsk{kNoon})));
}

TEST_F(SlotLedgerBroken, TriesAgainSoonAlsoWhenTheClockStepsBack) {
    break_it();
    world_.faults->heal();
    world_.clock.advance(-1h);

    EXPECT_TRUE(world_.ledger->available());
}

TEST_F(SlotLedgerBroken, KeepsTryingWhileTheTablesDoNotReopen) {
    break_it();
    world_.faults->arm({TableCall::Reopen, 1, Lasting::UntilHealed});
    for (int attempt = 0; attempt < 5; ++attempt) {
        world_.clock.advance(kRecoveryPause);
        EXPECT_FALSE(world_.ledger->available());
    }
    world_.faults->heal();

    world_.clock.advance(kRecoveryPause);

    EXPECT_TRUE(run_one(*world_.ledger, assign("known", "a", SlotAsk{kNoon}))->repeated);
}

TEST_F(SlotLedgerBroken, SaysWhatFailedInTheLog) {
    break_it();

    EXPECT_TRUE(world_.log.has("ERROR SlotLedger - Store failed, assigning stops: broken by the test"));
}

// Such an answer would be taken for "no such config" by whoever asked.
TEST(SlotLedgerAtStart, DoesNotDenyConfigsThatItCouldNotRead) {
    Broken world{{TableCall::LoadConfigs, 1, Lasting::UntilHealed}, true};

    EXPECT_EQ(world.ledger->active_config(config("a")).error().fault, SlotFault::Unavailable);
    EXPECT_EQ(world.ledger->config_history(config("a")).error().fault, SlotFault::Unavailable);
    EXPECT_EQ(world.ledger->find(event("x")).error().fault, SlotFault::Unavailable);
    EXPECT_EQ(world.ledger->quote({std::nullopt, config("a"), SlotAsk{kNoon}}).error().fault,
              SlotFault::Unavailable);
    EXPECT_EQ(world.ledger->windows(config("a"), {kNoon, kNoon + 1s}).error().fault, SlotFault::Unavailable);
}

TEST(SlotLedgerHistory, IsUnavailableWhenItCannotBeRead) {
    Broken world{{TableCall::Past, 1}};
    ASSERT_TRUE(world.ledger->put_config(draft("a", 2, 1s)));
    ASSERT_TRUE(run_one(*world.ledger, assign("x", "a", SlotAsk{kNoon})));

    EXPECT_EQ(world.ledger->find(event("x")).error().fault, SlotFault::Unavailable);
    EXPECT_TRUE(world.ledger->find(event("x")));
}

TEST(SlotLedgerDamage, IsNotAnsweredFrom) {
    Broken world{{TableCall::Commit, 1'000'000}};
    ASSERT_TRUE(world.ledger->put_config(draft("a", 2, 1s)));
    SlotChanges changes;
    changes.slots.push_back(Slot{event("stray"), ConfigId{77}, kNoon, kNoon, kNoon + 1ms});
    ASSERT_TRUE(world.tables->commit(changes));

    EXPECT_EQ(world.ledger->find(event("stray")).error().fault, SlotFault::Unavailable);
    EXPECT_EQ(run_one(*world.ledger, assign("stray", "a", SlotAsk{kNoon})).error().fault,
              SlotFault::Unavailable);
    world.clock.advance(kRecoveryPause);
    EXPECT_TRUE(run_one(*world.ledger, assign("x", "a", SlotAsk{kNoon}))) << "others are served all the same";
}

TEST(SlotLedgerRecut, LeavesTheConfigAsItWasWhenTheSlotsCannotBeCountedAgain) {
    for (const TableCall call : {TableCall::ScanSlots, TableCall::ScanCounts, TableCall::Commit}) {
        Broken world{{call, 1'000'000}};
        ASSERT_TRUE(world.ledger->put_config(draft("a", 2, 1s)));
        ASSERT_TRUE(run_one(*world.ledger, assign("x", "a", SlotAsk{kNoon - 1h})));
        world.faults->arm({call, 1});

        EXPECT_EQ(world.ledger->put_config(draft("a", 2, 4s)).error().fault, SlotFault::Unavailable);

        world.clock.advance(kRecoveryPause);
        EXPECT_TRUE(world.ledger->available());
        EXPECT_EQ(world.ledger->active_config(config("a"))->terms.window_size, 1s);
        EXPECT_THAT(recount(*world.tables)->differences, IsEmpty());
        EXPECT_TRUE(world.ledger->put_config(draft("a", 2, 4s)));
    }
}

}  // namespace
}  // namespace sluice
