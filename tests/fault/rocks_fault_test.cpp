#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/slots/slot_ledger.hpp"
#include "support/counting_metrics.hpp"
#include "support/faulty_files.hpp"
#include "support/hand_clock.hpp"
#include "support/recording_log.hpp"
#include "support/rocks_tables.hpp"
#include "support/slot_words.hpp"
#include "support/stubborn_workload.hpp"

namespace sluice::test {
namespace {

using testing::IsEmpty;

constexpr Duration kRecoveryPause{200};
constexpr std::uint64_t kReserve = 70'000'000;

class Machine {
public:
    // False when the files do not let it start.
    bool start() {
        auto opened = open_rocks_tables({.path = "/disk/data", .env = files.env(), .reserve = kReserve});
        if (!opened) {
            return false;
        }
        tables = std::move(*opened);
        ledger = make_slot_ledger(std::make_unique<SharedTables>(tables), {}, {clock, metrics, log});
        return true;
    }
    void stop() {
        ledger.reset();
        tables.reset();
    }

    FaultyFiles files;
    HandClock clock{kNoon - 1h};
    CountingMetrics metrics;
    RecordingLog log;
    std::shared_ptr<SlotTables> tables;
    std::unique_ptr<SlotStore> ledger;
};

void expect_sound(Machine& machine, const StubbornWorkload& workload) {
    workload.check(*machine.ledger);
    const auto report = recount(*machine.tables);
    ASSERT_TRUE(report) << report.error().what;
    EXPECT_THAT(report->differences, IsEmpty());
}

struct FaultCase {
    std::string name;
    FileFault fault;
};
void PrintTo(const FaultCase& one, std::ostream* out) { *out << one.name; }

class RocksUnderFaults : public testing::TestWithParam<FaultCase> {};

// The Nth write or sync fails while the store is at work, for every N.
TEST_P(RocksUnderFaults, LosesNothingAndRecoversWhicheverCallFails) {
    std::size_t nth = 1;
    for (;; ++nth) {
        SCOPED_TRACE("call " + std::to_string(nth) + " fails");
        Machine machine;
        ASSERT_TRUE(machine.start());
        StubbornWorkload workload;
        FileFault fault = GetParam().fault;
        fault.nth = nth;
        machine.files.arm(fault);

        workload.run({*machine.ledger, machine.clock, [&] { machine.files.heal(); }});
        const bool fired = machine.files.fired() > 0;
        machine.files.heal();
        machine.clock.advance(kRecoveryPause);

        EXPECT_TRUE(machine.ledger->available());
        expect_sound(machine, workload);
        machine.stop();
        ASSERT_TRUE(machine.start());
        expect_sound(machine, workload);
        if (!fired || HasFailure()) {
            break;
        }
    }
    EXPECT_GT(nth, 10U) << "hardly any call was broken";
}

// Opening writes too, and so does closing: no failure there ends the process or loses anything.
TEST_P(RocksUnderFaults, SurvivesFaultsWhileItOpensAndCloses) {
    std::size_t nth = 1;
    for (;; ++nth) {
        SCOPED_TRACE("call " + std::to_string(nth) + " fails");
        Machine machine;
        ASSERT_TRUE(machine.start());
        StubbornWorkload workload;
        workload.run_until_failure(*machine.ledger);
        machine.stop();
        FileFault fault = GetParam().fault;
        fault.nth = nth;
        machine.files.arm(fault);

        machine.start();
        machine.stop();
        const bool fired = machine.files.fired() > 0;
        machine.files.heal();

        ASSERT_TRUE(machine.start());
        expect_sound(machine, workload);
        if (!fired || HasFailure()) {
            break;
        }
    }
    EXPECT_GT(nth, 5U) << "hardly any call was broken";
}

// The next write after a failure must not be RocksDB's own log telling of it.
TEST(RocksDataFolder, HoldsNoLogThatRocksDbWritesItself) {
    Machine machine;
    ASSERT_TRUE(machine.start());
    std::vector<std::string> names;

    ASSERT_TRUE(machine.files.env()->GetChildren("/disk/data", &names).ok());

    EXPECT_THAT(names, testing::Not(testing::Contains(testing::StartsWith("LOG"))));
}

INSTANTIATE_TEST_SUITE_P(
    EveryCall, RocksUnderFaults,
    testing::Values(FaultCase{"AppendOnce", {FileCall::Append, 1, Lasting::Once}},
                    FaultCase{"AppendLasting", {FileCall::Append, 1, Lasting::UntilHealed}},
                    FaultCase{"SyncOnce", {FileCall::Sync, 1, Lasting::Once}},
                    FaultCase{"SyncLasting", {FileCall::Sync, 1, Lasting::UntilHealed}},
                    FaultCase{"DiskFull", {FileCall::Append, 1, Lasting::UntilHealed, true}}),
    [](const auto& one) { return one.param.name; });

class RocksUnderPowerLoss : public testing::TestWithParam<FileCall> {};

// The power fails at the Nth write or sync, from the very first of a new folder on.
TEST_P(RocksUnderPowerLoss, KeepsEveryAcknowledgedSlotWheneverThePowerFails) {
    std::size_t nth = 1;
    std::size_t acknowledged = 0;
    for (;; ++nth) {
        SCOPED_TRACE("the power fails at call " + std::to_string(nth) + ", which is also the seed");
        Machine machine;
        StubbornWorkload workload;
        machine.files.cut_power_at(GetParam(), nth);
        if (machine.start()) {
            workload.run_until_failure(*machine.ledger);
        }
        const bool fired = machine.files.fired() > 0;
        acknowledged += workload.acknowledged();
        machine.stop();

        machine.files.lose_power(nth);

        ASSERT_TRUE(machine.start());
        expect_sound(machine, workload);
        workload.run({*machine.ledger, machine.clock});
        expect_sound(machine, workload);
        if (!fired || HasFailure()) {
            break;
        }
    }
    EXPECT_GT(nth, 20U) << "the power hardly ever failed";
    EXPECT_GT(acknowledged, 100U) << "hardly anything was there to lose";
}

INSTANTIATE_TEST_SUITE_P(EveryCall, RocksUnderPowerLoss, testing::Values(FileCall::Append, FileCall::Sync),
                         [](const auto& one) { return one.param == FileCall::Append ? "Append" : "Sync"; });

// After each restart the power fails again, a little later: what recovery itself writes must be safe too.
TEST(RocksUnderRepeatedPowerLoss, KeepsEveryAcknowledgedSlot) {
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Random random{seed};
        Machine machine;
        StubbornWorkload workload;
        for (int loss = 0; loss < 6; ++loss) {
            const auto call = random.below(2) == 0 ? FileCall::Append : FileCall::Sync;
            machine.files.cut_power_at(call, 1 + random.below(40));
            if (machine.start()) {
                workload.run_until_failure(*machine.ledger);
            }
            machine.stop();
            machine.files.lose_power(random.next());
        }

        ASSERT_TRUE(machine.start());
        expect_sound(machine, workload);
    }
}

// Otherwise the power could take the new folder itself away, with all that was synced in it.
TEST(RocksDataFolder, IsItselfSafeFromThePowerWhenItIsNew) {
    Machine machine;

    ASSERT_TRUE(machine.start());

    EXPECT_TRUE(machine.files.synced_folder("/disk/data"));
    EXPECT_TRUE(machine.files.synced_folder("/disk"));
}

class RocksOnANearlyFullDisk : public testing::Test {
protected:
    void SetUp() override {
        ASSERT_TRUE(machine_.start());
        ASSERT_TRUE(machine_.ledger->put_config(draft("a", 5, 1s)));
        ASSERT_TRUE(run_one(*machine_.ledger, assign("known", "a", SlotAsk{kNoon})));
        ASSERT_TRUE(run_one(*machine_.ledger, assign("other", "a", SlotAsk{kNoon})));
    }
    std::optional<SlotFault> fault_of(const SlotCommand& command) {
        const auto outcome = run_one(*machine_.ledger, command);
        return outcome ? std::nullopt : std::optional{outcome.error().fault};
    }

    Machine machine_;
};

TEST_F(RocksOnANearlyFullDisk, TakesNoNewSlotsButAnswersAndCancelsKnownOnes) {
    machine_.files.set_free_space(kReserve - 1);

    EXPECT_TRUE(machine_.ledger->full());
    EXPECT_EQ(fault_of(assign("new", "a", SlotAsk{kNoon})), SlotFault::StoreFull);
    EXPECT_EQ(fault_of(MoveSlot{event("known"), kNoon + 1h}), SlotFault::StoreFull);
    EXPECT_TRUE(run_one(*machine_.ledger, assign("known", "a", SlotAsk{kNoon}))->repeated);
    EXPECT_TRUE(machine_.ledger->find(event("known")));
    EXPECT_TRUE(machine_.ledger->quote({{}, config("a"), SlotAsk{kNoon}}));
    EXPECT_TRUE(run_one(*machine_.ledger, CancelSlot{event("known")}));
    EXPECT_EQ(fault_of(assign("new", "none", SlotAsk{kNoon})), SlotFault::UnknownConfig);
}

TEST_F(RocksOnANearlyFullDisk, WritesNothingWhenHardlyAnythingIsLeft) {
    machine_.files.set_free_space(kReserve / 4 - 1);
    machine_.files.arm({FileCall::Append, 1, Lasting::UntilHealed, true});

    EXPECT_EQ(fault_of(CancelSlot{event("known")}), SlotFault::StoreFull);
    EXPECT_EQ(machine_.ledger->put_config(draft("a", 6, 1s)).error().fault, SlotFault::StoreFull);
    EXPECT_TRUE(machine_.ledger->find(event("known")));
    EXPECT_TRUE(machine_.ledger->available());
    EXPECT_EQ(machine_.files.fired(), 0U);
}

TEST_F(RocksOnANearlyFullDisk, GoesOnByItselfWhenThereIsRoomAgain) {
    machine_.files.set_free_space(0);
    EXPECT_EQ(fault_of(assign("new", "a", SlotAsk{kNoon})), SlotFault::StoreFull);

    machine_.files.set_free_space(kReserve + 1'000'000);

    EXPECT_FALSE(machine_.ledger->full());
    EXPECT_TRUE(run_one(*machine_.ledger, assign("new", "a", SlotAsk{kNoon})));
    EXPECT_EQ(machine_.log.count_starting("ERROR SlotLedger - The disk is nearly full"), 1U);
}

// Somebody was faster with the last bytes: the write failed, and the store cannot be opened again without
// room. What is stored can be read all the same.
TEST_F(RocksOnANearlyFullDisk, CanStillBeReadAfterAWriteThatFoundNoRoom) {
    machine_.files.arm({FileCall::Append, 1, Lasting::UntilHealed, true});
    EXPECT_EQ(fault_of(assign("new", "a", SlotAsk{kNoon})), SlotFault::Unavailable);
    machine_.files.set_free_space(0);
    machine_.clock.advance(kRecoveryPause);

    EXPECT_FALSE(machine_.ledger->available());
    EXPECT_TRUE(machine_.ledger->find(event("known")));

    machine_.files.heal();
    machine_.files.set_free_space(kReserve + 1'000'000);
    machine_.clock.advance(kRecoveryPause);
    EXPECT_TRUE(run_one(*machine_.ledger, assign("new", "a", SlotAsk{kNoon})));
}

}  // namespace
}  // namespace sluice::test
