#include "app/dispatch/keepership.hpp"

#include <gtest/gtest.h>

namespace sluice::test {
namespace {

using namespace std::chrono_literals;

constexpr BootTime kBooted{1000s};

TEST(Keepership, CountsItsLeaseFromBeforeItAsked) {
    Keepership keepership;

    keepership.told(Keeping{.fence = 7, .lasts = 6s}, kBooted);

    EXPECT_EQ(keepership.lease(kBooted + 5'999ms), (Keepership::Lease{7, kBooted + 6s}));
    EXPECT_EQ(keepership.lease(kBooted + 6s), std::nullopt);
}

TEST(Keepership, AsksAgainWhenAThirdOfItIsOver) {
    Keepership keepership;
    EXPECT_EQ(keepership.ask_at(), BootTime::min());

    keepership.told(Keeping{.fence = 7, .lasts = 6s}, kBooted);

    EXPECT_EQ(keepership.ask_at(), kBooted + 2s);
}

TEST(Keepership, AsksEverySecondWhileSomebodyElseIs) {
    Keepership keepership;
    keepership.told(Keeping{.fence = 7, .lasts = 6s}, kBooted);

    keepership.told(std::nullopt, kBooted + 2s);

    EXPECT_EQ(keepership.lease(kBooted + 2s), std::nullopt);
    EXPECT_EQ(keepership.ask_at(), kBooted + 3s);
}

TEST(Keepership, NeverAsksAgainWhereNobodyElseCanBe) {
    Keepership keepership;

    keepership.told(Keeping{.fence = 1, .lasts = Duration::max()}, kBooted);

    EXPECT_EQ(keepership.ask_at(), BootTime::max());
    EXPECT_TRUE(keepership.lease(kBooted + 10'000h));
}

TEST(Keepership, IsOverWhenItIsForgotten) {
    Keepership keepership;
    keepership.told(Keeping{.fence = 7, .lasts = 6s}, kBooted);

    keepership.forget(kBooted + 1s);

    EXPECT_EQ(keepership.lease(kBooted + 1s), std::nullopt);
    EXPECT_EQ(keepership.ask_at(), kBooted + 1s);
}

}  // namespace
}  // namespace sluice::test
