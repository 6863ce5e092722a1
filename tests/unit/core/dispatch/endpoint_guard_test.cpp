#include "core/dispatch/endpoint_guard.hpp"

#include <gtest/gtest.h>

namespace sluice::test {
namespace {

using namespace std::chrono_literals;

constexpr SteadyTime kNow{100s};

void begin(EndpointGuard& guard, int calls) {
    for (int i = 0; i < calls; ++i) {
        guard.begin();
    }
}

void fail(EndpointGuard& guard, std::uint32_t calls, SteadyTime now = kNow) {
    for (std::uint32_t i = 0; i < calls; ++i) {
        guard.begin();
        guard.failed(now);
    }
}

TEST(EndpointGuard, LetsFewCallsBeginAtFirst) {
    EndpointGuard guard{64};

    begin(guard, 7);

    EXPECT_TRUE(guard.may_begin(kNow));
    guard.begin();
    EXPECT_EQ(guard.next(), SteadyTime::max());
}

TEST(EndpointGuard, StaysBelowItsBoundFromTheStart) {
    EndpointGuard guard{2};

    begin(guard, 2);

    EXPECT_FALSE(guard.may_begin(kNow));
}

TEST(EndpointGuard, LetsOneMoreBeginWithEachSuccessUpToItsBound) {
    EndpointGuard guard{10};
    for (int i = 0; i < 20; ++i) {
        guard.begin();
        guard.succeeded();
    }

    begin(guard, 9);

    EXPECT_TRUE(guard.may_begin(kNow));
    guard.begin();
    EXPECT_FALSE(guard.may_begin(kNow));
}

TEST(EndpointGuard, LetsHalfAsManyBeginAfterAFailure) {
    EndpointGuard guard{64};
    fail(guard, 1);

    begin(guard, 3);

    EXPECT_TRUE(guard.may_begin(kNow));
    guard.begin();
    EXPECT_FALSE(guard.may_begin(kNow));
}

TEST(EndpointGuard, IsLeftAloneAfterFiveFailuresThenAskedOnce) {
    EndpointGuard guard{64};
    fail(guard, 4);
    EXPECT_FALSE(guard.is_failing());

    fail(guard, 1);

    EXPECT_TRUE(guard.is_failing());
    EXPECT_EQ(guard.next(), kNow + 1s);
    guard.begin();
    EXPECT_EQ(guard.next(), SteadyTime::max());
}

TEST(EndpointGuard, DoublesThePauseWithEachTrialThatFailsUpToAMinute) {
    EndpointGuard guard{64};
    fail(guard, 5);

    for (const auto pause : {2s, 4s, 8s, 16s, 32s, 60s, 60s}) {
        fail(guard, 1);

        EXPECT_EQ(guard.next(), kNow + pause);
    }
}

TEST(EndpointGuard, DoesNotDoubleThePauseForCallsThatBeganBeforeIt) {
    EndpointGuard guard{64};
    begin(guard, 8);

    for (int i = 0; i < 8; ++i) {
        guard.failed(kNow);
    }

    EXPECT_EQ(guard.next(), kNow + 1s);
}

TEST(EndpointGuard, TrustsAnEndpointAgainAfterASuccess) {
    EndpointGuard guard{64};
    fail(guard, 7);
    guard.begin();

    guard.succeeded();

    EXPECT_FALSE(guard.is_failing());
    EXPECT_TRUE(guard.may_begin(kNow + 1min));
    fail(guard, 5);
    EXPECT_EQ(guard.next(), kNow + 4s) << "The longest pause that was promised still holds.";
}

TEST(EndpointGuard, WaitsAsLongAsItIsAskedTo) {
    EndpointGuard guard{64};
    guard.begin();

    guard.asked_to_wait(kNow + 1h);

    EXPECT_EQ(guard.next(), kNow + 1h);
    EXPECT_FALSE(guard.is_failing());
    EXPECT_FALSE(guard.is_idle(kNow));
    EXPECT_TRUE(guard.is_idle(kNow + 1h));
}

TEST(EndpointGuard, ForgetsACallThatWasWithdrawn) {
    EndpointGuard guard{1};
    guard.begin();

    guard.withdrawn();

    EXPECT_TRUE(guard.may_begin(kNow));
    EXPECT_EQ(guard.under_way(), 0U);
}

}  // namespace
}  // namespace sluice::test
