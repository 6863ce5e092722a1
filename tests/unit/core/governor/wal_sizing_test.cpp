#include "core/governor/wal_sizing.hpp"

#include <gtest/gtest.h>

#include "core/governor/checkpoint_count.hpp"
#include "core/governor/wal_rates.hpp"

namespace sluice {
namespace {

constexpr std::int64_t kMegabyte = 1024 * 1024;

WalObservation forced(Megabytes current, std::int64_t count) { return {.current = current, .forced = count}; }

WalObservation quiet(Megabytes current, std::int64_t intervals) {
    return {.current = current, .quiet = intervals};
}

TEST(WalSizing, GrowsByTheForcedCheckpointsPlusOne) {
    const auto proposal = propose({}, forced(512, 3));

    EXPECT_EQ(proposal.action, WalAction::Increase);
    EXPECT_EQ(proposal.reason, WalReason::ForcedCheckpoints);
    EXPECT_EQ(proposal.target, 2048);
    EXPECT_EQ(proposal.calculated, 2048);
}

TEST(WalSizing, GrowsAtTheThresholdAndNotBelow) {
    EXPECT_EQ(propose({}, forced(512, 2)).action, WalAction::Increase);
    EXPECT_EQ(propose({}, forced(512, 1)).action, WalAction::None);
}

TEST(WalSizing, IsCappedAtTheMaximumAndSaysWhatItWanted) {
    const auto proposal = propose({}, forced(1024, 9));

    EXPECT_EQ(proposal.action, WalAction::Capped);
    EXPECT_EQ(proposal.target, 4096);
    EXPECT_EQ(proposal.calculated, 10'240);
}

TEST(WalSizing, StaysAtTheMaximum) {
    const auto proposal = propose({}, forced(4096, 2));

    EXPECT_EQ(proposal.action, WalAction::None);
    EXPECT_EQ(proposal.reason, WalReason::AtMaximum);
    EXPECT_EQ(proposal.target, 4096);
}

TEST(WalSizing, SaturatesInsteadOfOverflowing) {
    const WalSizingPolicy policy{.size_max = kMegabytesMax};

    EXPECT_EQ(propose(policy, forced(kMegabytesMax - 1, 1'000'000'000)).target, kMegabytesMax);
}

TEST(WalSizing, ShrinksAfterEnoughQuietIntervals) {
    const auto proposal = propose({}, quiet(4096, 5));

    EXPECT_EQ(proposal.action, WalAction::Decrease);
    EXPECT_EQ(proposal.reason, WalReason::SustainedLowActivity);
    EXPECT_EQ(proposal.target, 3072);
}

TEST(WalSizing, SaysWhyItDoesNotShrink) {
    EXPECT_EQ(propose({}, quiet(4096, 4)).reason, WalReason::NotQuietLongEnough);
    EXPECT_EQ(propose({.shrink_enabled = false}, quiet(4096, 5)).reason, WalReason::ShrinkDisabled);
    EXPECT_EQ(propose({}, quiet(1024, 5)).reason, WalReason::AtMinimum);
    EXPECT_EQ(propose({.size_min = 2, .shrink_factor = 990'000'000}, quiet(3, 5)).reason,
              WalReason::NothingToGain);
}

TEST(WalSizing, RoundsUpExactlyWhenItShrinks) {
    const auto shrunk = [](Megabytes size, double factor) {
        return propose({.size_min = 2, .shrink_factor = to_billionths(factor)}, quiet(size, 5)).target;
    };

    EXPECT_EQ(shrunk(1001, 0.75), 751);
    EXPECT_EQ(shrunk(101, 0.01), 2);
    EXPECT_EQ(shrunk(100, 0.07), 7);  // 100 * 0.07 is a little more than 7 in floating point.
    EXPECT_EQ(
        propose({.size_max = kMegabytesMax, .shrink_factor = to_billionths(0.99)}, quiet(kMegabytesMax, 5))
            .target,
        2'126'008'811);
}

TEST(WalSizing, ShrinksToTheMinimumAtMost) { EXPECT_EQ(propose({}, quiet(1100, 5)).target, 1024); }

TEST(WalSizing, TakesTheMaximumWhereTheMinimumLiesAboveIt) {
    EXPECT_EQ(propose({.size_max = 512, .size_min = 1024}, quiet(600, 5)).target, 512);
}

TEST(WalSizing, NeverShrinksBelowWhatTheServerNeeds) {
    EXPECT_EQ(propose({.size_min = 2, .size_floor = 2048}, quiet(2100, 5)).target, 2048);
    EXPECT_EQ(propose({.size_min = 2, .size_floor = 2048}, quiet(2048, 5)).reason, WalReason::AtMinimum);
    EXPECT_EQ(propose({.size_max = 512, .size_min = 2, .size_floor = 2048}, quiet(2100, 5)).target, 2048);
    EXPECT_EQ(
        propose({.size_max = 512, .size_floor = 2048}, {.current = 2100, .quiet = 5, .needed = 600}).target,
        2048);
}

TEST(WalSizing, GrowsToWhatTheServerNeedsOrNotAtAll) {
    const auto grown = propose({.size_floor = 2048}, forced(2, 2));
    EXPECT_EQ(grown.action, WalAction::Increase);
    EXPECT_EQ(grown.target, 2048);

    const auto stuck = propose({.size_max = 1024, .size_floor = 2048}, forced(2, 2));
    EXPECT_EQ(stuck.action, WalAction::None);
    EXPECT_EQ(stuck.reason, WalReason::AtMaximum);
    EXPECT_EQ(stuck.target, 2);
}

TEST(WalSizing, GrowsToWhatTheMeasuredRateNeedsWithoutAnyForcedCheckpoint) {
    const auto proposal = propose({}, {.current = 512, .needed = 900});

    EXPECT_EQ(proposal.action, WalAction::Increase);
    EXPECT_EQ(proposal.reason, WalReason::MeasuredRate);
    EXPECT_EQ(proposal.target, 900);
}

TEST(WalSizing, PrefersTheMeasuredRateToTheMultiple) {
    EXPECT_EQ(propose({}, {.current = 512, .forced = 5, .needed = 900}).target, 900);
    EXPECT_EQ(propose({}, {.current = 512, .forced = 2, .needed = 400}).target, 1536);
}

TEST(WalSizing, NeverShrinksBelowWhatTheMeasuredRateNeeds) {
    EXPECT_EQ(propose({}, {.current = 4096, .quiet = 5, .needed = 3500}).target, 3500);
    EXPECT_EQ(propose({}, {.current = 3500, .quiet = 5, .needed = 3500}).reason, WalReason::AtMinimum);
}

TEST(WalSizing, IsTheSurerTheMoreIsKnown) {
    EXPECT_EQ(confidence({}), 50);
    EXPECT_EQ(confidence({.requested = 10}), 50);
    EXPECT_EQ(confidence({.requested = 11}), 70);
    EXPECT_EQ(confidence({.requested = 11, .quiet = 1}), 85);
    EXPECT_EQ(confidence({.requested = 11, .quiet = 1, .baseline = true}), 100);
}

TEST(WalRates, SaysNothingBeforeThreeIntervals) {
    WalRates rates;
    rates.add(100, 1000, 1000);
    rates.add(100, 1000, 1000);
    EXPECT_EQ(rates.p95(), std::nullopt);

    rates.add(300, 1000, 1000);

    EXPECT_EQ(rates.p95(), 300);
}

TEST(WalRates, TakesTheNearestRankOfTheNewestIntervals) {
    WalRates rates;
    for (int i = 0; i < 1000; ++i) {
        rates.add(1'000'000, 1000, 1000);  // Forgotten below.
    }
    for (int i = 1; i <= 96; ++i) {
        rates.add(i, 1000, 1000);
    }

    EXPECT_EQ(rates.samples(), WalRates::kSamplesMax);
    EXPECT_EQ(rates.p95(), 92);  // The ceiling of 0.95 * 96 = 91.2.
}

TEST(WalRates, CountsALateIntervalAsIfItHadBeenInTime) {
    WalRates rates;
    for (int i = 0; i < 3; ++i) {
        rates.add(200, 2000, 1000);
    }
    rates.add(1'000'000, 0, 1000);

    EXPECT_EQ(rates.p95(), 100);
    EXPECT_EQ(rates.samples(), 3U);
}

TEST(WalRates, NeedsTheSizeAtWhichPostgresqlForcesNothing) {
    EXPECT_EQ(size_needed(100 * kMegabyte, 0.9), 228);  // 100 * 1.9 * 1.2
    EXPECT_EQ(size_needed(0, 0.9), 0);
    EXPECT_EQ(size_needed(std::numeric_limits<std::int64_t>::max(), 1.0), kMegabytesMax);
}

TEST(CheckpointCount, CountsOnlyWhatTheAmountOfWalForcedWhereItIsHeard) {
    EXPECT_EQ(forced_between({10, 3, true}, {17, 5, true}), 2);
}

TEST(CheckpointCount, CountsAllRequestedOnesWhereTheCauseIsUnknown) {
    EXPECT_EQ(forced_between({10, 3, false}, {17, 5, true}), 7);
    EXPECT_EQ(forced_between({10, 3, true}, {17, 3, false}), 7);
}

TEST(CheckpointCount, SaysNothingAfterAResetOfTheStatistics) {
    EXPECT_EQ(forced_between({10, 0, false}, {1, 0, false}), std::nullopt);
    EXPECT_EQ(forced_between({10, 3, true}, {1, 4, true}), 1);
}

}  // namespace
}  // namespace sluice
