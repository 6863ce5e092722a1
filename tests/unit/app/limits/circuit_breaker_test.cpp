#include "app/limits/circuit_breaker.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "app/limits/fail_budget.hpp"

namespace sluice::test {
namespace {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace)
using Pass = CircuitBreaker::Pass;
using State = BreakerState;

const CircuitBreaker::SteadyTime kStart{1h};

// Opens after 3 failures, for a second, and closes after 2 probes.
class CircuitBreakerTest : public ::testing::Test {
protected:
    void fail(int times) {
        for (int i = 0; i < times; ++i) {
            breaker_.failed(Pass::Normal, kStart);
        }
    }

    std::vector<State> changes_;
    CircuitBreaker breaker_{{3, 1s, 2}, [this](State state) { changes_.push_back(state); }};
};

TEST_F(CircuitBreakerTest, LetsAllThroughWhileClosed) {
    EXPECT_TRUE(breaker_.calm());
    EXPECT_EQ(breaker_.admit(kStart), Pass::Normal);

    fail(2);

    EXPECT_FALSE(breaker_.calm());
    EXPECT_EQ(breaker_.admit(kStart), Pass::Normal);
    EXPECT_TRUE(changes_.empty());
}

TEST_F(CircuitBreakerTest, CountsOnlyFailuresInARow) {
    fail(2);
    breaker_.succeeded(Pass::Normal);
    fail(2);

    EXPECT_EQ(breaker_.state(), State::Closed);
}

TEST_F(CircuitBreakerTest, OpensAndLetsNothingThroughForAWhile) {
    fail(3);

    EXPECT_EQ(breaker_.state(), State::Open);
    EXPECT_EQ(breaker_.admit(kStart + 999ms), Pass::Refused);
    EXPECT_EQ(changes_, std::vector<State>{State::Open});
}

TEST_F(CircuitBreakerTest, LetsAFewProbesThroughWhenHalfOpen) {
    fail(3);

    EXPECT_EQ(breaker_.admit(kStart + 1s), Pass::Probe);
    EXPECT_EQ(breaker_.admit(kStart + 1s), Pass::Probe);
    EXPECT_EQ(breaker_.admit(kStart + 1s), Pass::Refused);
    EXPECT_EQ(breaker_.state(), State::HalfOpen);
}

TEST_F(CircuitBreakerTest, ClosesWhenAllProbesSucceed) {
    fail(3);
    breaker_.admit(kStart + 1s);
    breaker_.admit(kStart + 1s);
    breaker_.succeeded(Pass::Probe);
    EXPECT_EQ(breaker_.state(), State::HalfOpen);

    breaker_.succeeded(Pass::Probe);

    EXPECT_TRUE(breaker_.calm());
    EXPECT_EQ(changes_, (std::vector<State>{State::Open, State::HalfOpen, State::Closed}));
}

TEST_F(CircuitBreakerTest, OpensAgainWhenAProbeFails) {
    fail(3);
    breaker_.admit(kStart + 1s);
    breaker_.succeeded(Pass::Probe);
    breaker_.admit(kStart + 1s);

    breaker_.failed(Pass::Probe, kStart + 1s);

    EXPECT_EQ(breaker_.admit(kStart + 1999ms), Pass::Refused);
    EXPECT_EQ(breaker_.admit(kStart + 2s), Pass::Probe);
    EXPECT_EQ(changes_, (std::vector<State>{State::Open, State::HalfOpen, State::Open, State::HalfOpen}));
}

TEST_F(CircuitBreakerTest, IsNotMovedByCallsFromBeforeItOpened) {
    fail(3);
    breaker_.admit(kStart + 1s);

    breaker_.succeeded(Pass::Normal);
    breaker_.succeeded(Pass::Normal);
    breaker_.failed(Pass::Normal, kStart + 1s);

    EXPECT_EQ(breaker_.state(), State::HalfOpen);
}

TEST(FailBudget, EndsByCount) {
    const FailBudgetOptions options{1min, 3};
    FailBudget budget;
    budget.failed(kStart);
    EXPECT_TRUE(budget.covers(options, kStart, 3));
    EXPECT_FALSE(budget.covers(options, kStart, 4));

    budget.spend(2);

    EXPECT_TRUE(budget.covers(options, kStart, 1));
    EXPECT_FALSE(budget.covers(options, kStart, 2));
}

TEST(FailBudget, EndsByTimeHoweverOftenItFails) {
    const FailBudgetOptions options{1min, 3};
    FailBudget budget;
    for (auto after = 0s; after <= 61s; ++after) {
        budget.failed(kStart + after);
    }

    EXPECT_FALSE(budget.covers(options, kStart + 61s, 1));
}

TEST(FailBudget, IsRenewedOnlyAfterAQuietTime) {
    const FailBudgetOptions options{1min, 3};
    FailBudget budget;
    budget.failed(kStart);
    budget.spend(3);
    budget.failed(kStart + FailBudget::kQuiet);
    EXPECT_FALSE(budget.covers(options, kStart + FailBudget::kQuiet, 1));

    budget.failed(kStart + 2 * FailBudget::kQuiet + 1ms);

    EXPECT_TRUE(budget.covers(options, kStart + 2 * FailBudget::kQuiet + 1ms, 3));
}

}  // namespace
}  // namespace sluice::test
