#include "core/dispatch/window_share.hpp"

#include <gtest/gtest.h>

namespace sluice::test {
namespace {

TEST(WindowShare, GivesLateWorkExactlyAFifthOverManyWindows) {
    for (const Places cap : {1U, 2U, 3U, 4U, 5U, 7U, 100U, 1'000'000'000U}) {
        std::uint64_t sum = 0;
        const WindowIndex first = 1'800'000'000'000;
        for (WindowIndex window = first; window < first + 50; ++window) {
            sum += late_share(window, cap);
        }

        EXPECT_EQ(sum, 10ULL * cap);
    }
}

TEST(WindowShare, NeverExceedsTheCap) {
    EXPECT_TRUE(may_send({.cap = 3, .sent = 2}, 1, Lateness::Fresh));
    EXPECT_FALSE(may_send({.cap = 3, .sent = 2}, 2, Lateness::Fresh));
    EXPECT_FALSE(may_send({.cap = 3, .sent = 3}, 1, Lateness::Late));
    EXPECT_FALSE(may_send({.cap = 3, .sent = 4}, 1, Lateness::Fresh));
}

TEST(WindowShare, LetsWorkGoAloneThatIsHeavierThanTheCap) {
    for (const Lateness lateness : {Lateness::Fresh, Lateness::Late}) {
        EXPECT_TRUE(may_send({.cap = 3}, 4, lateness));
        EXPECT_FALSE(may_send({.cap = 3, .sent = 1}, 4, lateness));
    }
}

TEST(WindowShare, GivesLateWorkWhatThePlanLeaves) {
    EXPECT_TRUE(may_send({.cap = 10, .planned = 4, .sent = 5, .late = 5}, 1, Lateness::Late));
    EXPECT_FALSE(may_send({.cap = 10, .planned = 4, .sent = 6, .late = 6}, 1, Lateness::Late));
}

TEST(WindowShare, GivesLateWorkAFifthOfAFullyPlannedWindow) {
    EXPECT_TRUE(may_send({.cap = 10, .planned = 12, .sent = 5, .late = 1}, 1, Lateness::Late));
    EXPECT_FALSE(may_send({.cap = 10, .planned = 12, .sent = 5, .late = 2}, 1, Lateness::Late));
}

TEST(WindowShare, LetsHeavyLateWorkGoAsOftenAsItsSharesPayForIt) {
    int went = 0;
    for (WindowIndex window = 0; window < 300; ++window) {
        went += may_send({.window = window, .cap = 10, .planned = 10}, 6, Lateness::Late) ? 1 : 0;
        EXPECT_FALSE(
            may_send({.window = window, .cap = 10, .planned = 10, .sent = 1, .late = 1}, 6, Lateness::Late));
    }

    EXPECT_EQ(went, 100);
}

}  // namespace
}  // namespace sluice::test
