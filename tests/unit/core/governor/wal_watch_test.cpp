#include "core/governor/wal_watch.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

constexpr WalWatchPolicy kPolicy{.threshold = 2, .checkpoint_ms = 300'000};

WalReading requested(std::int64_t count, Megabytes size = 1024) {
    return {.count = {.requested = count}, .size = size};
}

// A watch with a baseline of 100 requested checkpoints and `quiet` quiet intervals behind it.
WalWatch quiet_watch(int quiet) {
    WalWatch watch;
    for (int i = 0; i <= quiet; ++i) {
        watch.close(requested(100), kPolicy);
    }
    return watch;
}

TEST(WalWatch, TakesTheFirstReadingAsTheBaselineOnly) {
    WalWatch watch;

    EXPECT_FALSE(watch.close(requested(5000), kPolicy).has_value());
    EXPECT_EQ(watch.close(requested(5003), kPolicy)->forced, 3);
}

TEST(WalWatch, DoesNotReadTheLifetimeCounterAsOneIntervalAfterAReset) {
    auto watch = quiet_watch(2);

    watch.forget();

    EXPECT_FALSE(watch.close(requested(5000), kPolicy).has_value());
    EXPECT_EQ(watch.close(requested(5000), kPolicy)->forced, 0);
}

TEST(WalWatch, DoesNotReadAPauseAsOneInterval) {
    auto watch = quiet_watch(2);

    watch.follow(requested(4000));
    watch.follow(requested(5000));

    EXPECT_EQ(watch.close(requested(5001), kPolicy)->forced, 1);
    EXPECT_EQ(watch.quiet(), 1);
}

TEST(WalWatch, ReadsAResetOfTheStatisticsNeitherAsForcedNorAsQuiet) {
    auto watch = quiet_watch(2);

    EXPECT_FALSE(watch.close(requested(1), kPolicy).has_value());
    EXPECT_EQ(watch.quiet(), 2);
    EXPECT_EQ(watch.close(requested(2), kPolicy)->forced, 1);
}

TEST(WalWatch, CountsQuietIntervalsInARow) {
    auto watch = quiet_watch(3);

    EXPECT_EQ(watch.close(requested(101), kPolicy)->quiet, 4);
    EXPECT_EQ(watch.close(requested(103), kPolicy)->quiet, 0);
    EXPECT_EQ(watch.close(requested(103), kPolicy)->quiet, 1);
}

TEST(WalWatch, CountsQuietIntervalsAnewWhenTheSizeChanged) {
    auto watch = quiet_watch(3);

    EXPECT_EQ(watch.close(requested(100, 512), kPolicy)->quiet, 1);
}

TEST(WalWatch, LooksAtTheIntervalUnderWayWithoutEndingIt) {
    auto watch = quiet_watch(3);

    EXPECT_EQ(watch.peek(requested(107))->forced, 7);
    EXPECT_EQ(watch.peek(requested(107))->quiet, 3);
    EXPECT_EQ(watch.close(requested(107), kPolicy)->forced, 7);
}

TEST(WalWatch, MeasuresTheWalOfEachInterval) {
    WalWatch watch;
    WalReading reading;

    for (int i = 0; i < 4; ++i) {
        watch.close(reading, kPolicy);
        reading.wal_position += 1000;
        reading.at_ms += 150'000;
    }

    EXPECT_EQ(watch.rates().samples(), 3U);
    EXPECT_EQ(watch.rates().p95(), 2000);
}

}  // namespace
}  // namespace sluice
