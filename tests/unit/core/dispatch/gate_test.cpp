#include "core/dispatch/gate.hpp"

#include <chrono>

#include <gtest/gtest.h>

namespace sluice::test {
namespace {

using namespace std::chrono_literals;

constexpr SteadyTime kStart{100s};
constexpr SteadyTime kNever = SteadyTime::max();

TEST(Gate, OpensWhenItWasTold) { EXPECT_EQ(Gate({10}, kStart + 1s).next(), kStart + 1s); }

TEST(Gate, SpacesCallsALittleCloserThanItsRate) {
    Gate gate{{10}, kStart};

    gate.take(kStart);

    EXPECT_EQ(gate.next(), kStart + 100ms - 6250us);
}

TEST(Gate, IsClosedWhileAllPermitsAreOutAndNobodyKnowsForHowLong) {
    Gate gate{{2}, kStart};
    gate.take(kStart);

    gate.take(gate.next());

    EXPECT_EQ(gate.next(), kNever);
}

TEST(Gate, TakesAPermitBackASecondAfterTheAnswerForReceivers) {
    Gate gate{{1}, kStart};
    const auto permit = gate.take(kStart);
    gate.began(permit, kStart + 10ms);

    gate.ended(permit, kStart + 300ms);

    EXPECT_EQ(gate.next(), kStart + 1300ms);
}

TEST(Gate, TakesAPermitBackASecondAfterTheBeginningForSenders) {
    Gate gate{{1, RateHolds::Sender}, kStart};
    const auto permit = gate.take(kStart);

    gate.began(permit, kStart + 10ms);

    EXPECT_EQ(gate.next(), kStart + 1010ms);
    gate.ended(permit, kStart + 5s);
    EXPECT_EQ(gate.next(), kStart + 1010ms);
}

TEST(Gate, PlansTheNextCallForWhenAPermitComesBack) {
    Gate gate{{1}, kStart};
    gate.ended(gate.take(kStart), kStart + 1ms);

    const auto planned = gate.take(gate.next());

    EXPECT_EQ(gate.next(), kNever);
    gate.ended(planned, kStart + 1002ms);
    EXPECT_EQ(gate.next(), kStart + 2002ms);
}

TEST(Gate, CanUseAWithdrawnPermitAtOnceButNotItsPlace) {
    Gate gate{{2}, kStart};
    gate.take(kStart);
    const auto permit = gate.take(gate.next());

    gate.withdrawn(permit);

    EXPECT_EQ(gate.next(), kStart + 2 * (500ms - 31250us));
}

TEST(Gate, TakesBackWhatBeganAndWasWithdrawnAllTheSame) {
    Gate gate{{1, RateHolds::Sender}, kStart};
    const auto permit = gate.take(kStart);
    gate.began(permit, kStart);

    gate.withdrawn(permit);

    EXPECT_EQ(gate.out(kStart), 0U);
}

TEST(Gate, WaitsForAsManyPermitsAsAreTooManyUnderALowerRate) {
    Gate gate{{3}, kStart};
    for (const auto latency : {1ms, 2ms, 3ms}) {
        const auto when = gate.next();
        gate.ended(gate.take(when), when + latency);
    }
    const SteadyTime last = kStart + 2 * (333333333ns - 333333333ns / 16) + 3ms + 1s;

    gate.change({1});

    EXPECT_EQ(gate.out(kStart + 700ms), 3U);
    EXPECT_EQ(gate.next(), last);
}

TEST(Gate, HoldsWhatIsUnderWayToTheNewTerms) {
    Gate gate{{1, RateHolds::Sender}, kStart};
    const auto permit = gate.take(kStart);
    gate.began(permit, kStart);

    gate.change({1, RateHolds::Receiver});
    EXPECT_EQ(gate.next(), kNever);
    gate.change({1, RateHolds::Sender});
    EXPECT_EQ(gate.next(), kStart + 1s);
    gate.change({1, RateHolds::Receiver});
    gate.ended(permit, kStart + 2s);

    EXPECT_EQ(gate.next(), kStart + 3s);
}

TEST(Gate, CountsWhatOthersHold) {
    Gate gate{{2}, kStart};
    gate.occupy(kStart + 5s);
    gate.occupy(kStart + 3s);

    EXPECT_EQ(gate.next(), kStart + 3s);
    EXPECT_EQ(gate.out(kStart + 4s), 1U);
    EXPECT_EQ(gate.out(kStart + 5s), 0U);
}

TEST(Gate, CountsACallThatWasUnderWayBeforeIt) {
    Gate gate{{1}, kStart};

    const auto permit = gate.admit();

    EXPECT_EQ(gate.next(), kNever);
    gate.ended(permit, kStart + 2s);
    EXPECT_EQ(gate.next(), kStart + 3s);
}

TEST(Gate, HearsOfAnEndOnce) {
    Gate gate{{1}, kStart};
    const auto permit = gate.take(kStart);
    gate.ended(permit, kStart);

    gate.ended(permit, kStart + 5s);
    gate.withdrawn(permit);
    gate.began(permit, kStart + 5s);

    EXPECT_EQ(gate.next(), kStart + 1s);
}

TEST(Gate, StaysClosedAsLongAsItIsTold) {
    Gate gate{{5}, kStart};

    gate.close_until(kStart + 1s);
    gate.close_until(kStart);

    EXPECT_EQ(gate.next(), kStart + 1s);
}

}  // namespace
}  // namespace sluice::test
