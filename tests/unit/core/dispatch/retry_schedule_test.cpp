#include "core/dispatch/retry_schedule.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace sluice::test {
namespace {

using namespace std::chrono_literals;

TEST(RetrySchedule, WaitsAsLongAsItSaysAndUpToATenthLonger) {
    const RetrySchedule schedule{{10s, 20s}};
    Random random{1};
    Duration longest{};

    for (int i = 0; i < 1000; ++i) {
        const auto pause = schedule.pause_after(2, std::nullopt, random);

        ASSERT_TRUE(pause);
        EXPECT_GE(*pause, 20s);
        EXPECT_LE(*pause, 22s);
        longest = std::max(longest, *pause);
    }
    EXPECT_GT(longest, 21s);
}

TEST(RetrySchedule, EndsAfterItsLastPause) {
    const RetrySchedule schedule{{10s, 20s}};
    Random random{1};

    EXPECT_FALSE(schedule.pause_after(3, std::nullopt, random));
    EXPECT_FALSE(RetrySchedule{std::vector<Duration>{}}.pause_after(1, 5s, random));
    EXPECT_TRUE(RetrySchedule{}.pause_after(8, std::nullopt, random));
    EXPECT_FALSE(RetrySchedule{}.pause_after(9, std::nullopt, random));
}

TEST(RetrySchedule, NeverUndercutsWhatTheReceiverAskedForUpToADay) {
    const RetrySchedule schedule{{10s}};
    Random random{1};

    for (int i = 0; i < 100; ++i) {
        EXPECT_GE(*schedule.pause_after(1, 1h, random), 1h);
        EXPECT_GE(*schedule.pause_after(1, 1s, random), 10s);
        EXPECT_LE(*schedule.pause_after(1, 1000h, random), RetrySchedule::kHeededMax * 11 / 10);
        EXPECT_GE(*schedule.pause_after(1, -1h, random), 10s);
    }
}

}  // namespace
}  // namespace sluice::test
