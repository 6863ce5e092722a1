#include <gtest/gtest.h>

#include "main/latency_histogram.hpp"

namespace sluice {
namespace {

using namespace std::chrono_literals;

TEST(LatencyHistogram, GivesQuantilesWithinItsBuckets) {
    LatencyHistogram histogram;
    for (int i = 1; i <= 10'000; ++i) {
        histogram.record(std::chrono::microseconds{i});
    }

    const auto near = [](std::chrono::nanoseconds value, std::chrono::nanoseconds wanted) {
        return value >= wanted && value <= wanted + wanted / 64;
    };
    EXPECT_TRUE(near(histogram.quantile(0.5), 5ms));
    EXPECT_TRUE(near(histogram.quantile(0.99), 9900us));
    EXPECT_TRUE(near(histogram.quantile(0.999), 9990us));
    EXPECT_EQ(histogram.quantile(1), 10ms);
    EXPECT_EQ(histogram.most(), 10ms);
    EXPECT_EQ(histogram.total(), 10'000U);
}

TEST(LatencyHistogram, HoldsEveryDuration) {
    LatencyHistogram histogram;
    EXPECT_EQ(histogram.quantile(0.5), 0ns);

    for (const auto value : {-1ns, 0ns, 63ns, 64ns, 65ns, std::chrono::nanoseconds::max()}) {
        histogram.record(value);
    }

    EXPECT_EQ(histogram.quantile(0.5), 63ns);
    EXPECT_EQ(histogram.quantile(1), std::chrono::nanoseconds::max());
}

}  // namespace
}  // namespace sluice
