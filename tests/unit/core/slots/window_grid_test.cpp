#include "core/slots/window_grid.hpp"

#include <string>

#include <gtest/gtest.h>

#include "base/random.hpp"
#include "support/slot_words.hpp"

namespace sluice {
namespace {

using namespace test;

TEST(WindowGrid, AlignsWindowsToTheEpoch) {
    const WindowGrid grid{4s};

    EXPECT_EQ(grid.index_of(kEpoch), 0);
    EXPECT_EQ(grid.index_of(kEpoch + 3999ms), 0);
    EXPECT_EQ(grid.index_of(kEpoch + 4000ms), 1);
    EXPECT_EQ(grid.start_of(1), kEpoch + 4s);
}

TEST(WindowGrid, CutsTimeWhereTheFormulaSays) {
    constexpr std::uint64_t kSeed = 5;
    SCOPED_TRACE("seed " + std::to_string(kSeed));
    Random random{kSeed};

    for (int i = 0; i < 10'000; ++i) {
        const Duration size{static_cast<Duration::rep>(1 + random.below(2'678'400'000))};
        const Instant instant =
            kEpoch + Duration{static_cast<Duration::rep>(random.below(4'000'000'000'000))};
        const WindowGrid grid{size};

        const Instant start = grid.start_of(grid.index_of(instant));

        ASSERT_EQ(start, instant - instant.time_since_epoch() % size);
        ASSERT_LE(start, instant);
        ASSERT_LT(instant, start + size);
    }
}

TEST(WindowGrid, HoldsTheYear9999InWindowsOfOneMillisecond) {
    const WindowGrid grid{1ms};
    const Instant end = at("9999-12-31T23:59:59.999Z");

    EXPECT_EQ(grid.start_of(grid.index_of(end)), end);
    EXPECT_LT(grid.index_of(end + kTenYears), WindowIndex{1} << 48);
}

}  // namespace
}  // namespace sluice
