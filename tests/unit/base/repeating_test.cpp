#include "base/repeating.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/limit_words.hpp"
#include "support/virtual_runtime.hpp"

namespace sluice::test {
namespace {

using testing::ElementsAre;

// A job that takes 2 ms, and when it was run.
class RepeatingTest : public testing::Test {
protected:
    Repeating::Job every(Repeating::Pause pause) {
        return [this, pause](const std::stop_token& /*stop*/) {
            begun_.push_back(passed());
            runtime_.sleep(2ms);
            return pause;
        };
    }
    [[nodiscard]] std::chrono::milliseconds passed() const {
        return std::chrono::duration_cast<std::chrono::milliseconds>(clock_.now() - kMidnight);
    }

    HandMomentClock clock_{kMidnight};
    VirtualRuntime runtime_{1, clock_};
    std::vector<std::chrono::milliseconds> begun_;
};

TEST_F(RepeatingTest, RunsAgainAPauseAfterEachRun) {
    const Repeating repeating{runtime_, 10ms, every(5ms)};

    runtime_.sleep(30ms);

    EXPECT_THAT(begun_, ElementsAre(10ms, 17ms, 24ms));
}

TEST_F(RepeatingTest, MayBeginAtOnce) {
    const Repeating repeating{runtime_, 0ms, every(1h)};

    runtime_.sleep(1ms);

    EXPECT_THAT(begun_, ElementsAre(0ms));
}

TEST_F(RepeatingTest, RunsNoMoreWhenItIsStoppedAndWaitsForTheRunUnderWay) {
    Repeating repeating{runtime_, 10ms, every(5ms)};
    runtime_.sleep(11ms);

    repeating.stop();
    EXPECT_EQ(passed(), 12ms);
    repeating.nudge();
    runtime_.sleep(1h);

    EXPECT_THAT(begun_, ElementsAre(10ms));
}

TEST_F(RepeatingTest, TellsALongRunThatItIsStopped) {
    bool was_told = false;
    Repeating repeating{runtime_, 0ms, [&](const std::stop_token& stop) {
                            runtime_.wait([&] { return stop.stop_requested(); });
                            was_told = true;
                            return Repeating::kUntilNudged;
                        }};
    runtime_.sleep(1ms);

    repeating.stop();

    EXPECT_TRUE(was_told);
}

TEST_F(RepeatingTest, RestsUntilItIsNudged) {
    Repeating repeating{runtime_, Repeating::kUntilNudged, every(Repeating::kUntilNudged)};
    runtime_.sleep(10ms);
    EXPECT_THAT(begun_, ElementsAre());

    repeating.nudge();
    repeating.nudge();
    runtime_.sleep(10ms);

    EXPECT_THAT(begun_, ElementsAre(10ms));
}

TEST_F(RepeatingTest, RunsOnceMoreWhenItIsNudgedDuringARun) {
    Repeating repeating{runtime_, 0ms, every(Repeating::kUntilNudged)};
    runtime_.sleep(1ms);

    repeating.nudge();
    runtime_.sleep(10ms);

    EXPECT_THAT(begun_, ElementsAre(0ms, 2ms));
}

TEST_F(RepeatingTest, DoesNotCutAPauseShortWhenItIsNudged) {
    Repeating repeating{runtime_, 0ms, every(20ms)};
    runtime_.sleep(5ms);

    repeating.nudge();
    runtime_.sleep(30ms);

    EXPECT_THAT(begun_, ElementsAre(0ms, 22ms));
}

}  // namespace
}  // namespace sluice::test
