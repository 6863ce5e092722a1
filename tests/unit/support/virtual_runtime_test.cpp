#include "support/virtual_runtime.hpp"

#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/limit_words.hpp"

namespace sluice::test {
namespace {

using testing::ElementsAre;

class VirtualRuntimeTest : public testing::Test {
protected:
    HandMomentClock clock_{kMidnight};
    VirtualRuntime runtime_{1, clock_};
    std::vector<std::string> story_;
};

TEST_F(VirtualRuntimeTest, LeavesTheThreadToOthersWhileAJobWaits) {
    const auto workers = runtime_.hire(2);
    workers->post([&] {
        runtime_.sleep(10ms);
        story_.emplace_back("first");
    });
    workers->post([&] {
        runtime_.sleep(5ms);
        story_.emplace_back("second");
    });

    workers->finish();

    EXPECT_THAT(story_, ElementsAre("second", "first"));
    EXPECT_EQ(clock_.now(), kMidnight + 10ms);
}

TEST_F(VirtualRuntimeTest, GivesAWorkerOneJobAtATime) {
    const auto worker = runtime_.hire(1);
    worker->post([&] {
        runtime_.sleep(10ms);
        story_.emplace_back("first");
    });
    worker->post([&] { story_.emplace_back("second"); });

    worker->finish();

    EXPECT_THAT(story_, ElementsAre("first", "second"));
}

TEST_F(VirtualRuntimeTest, CallsTimersWhenTheirTimeHasComeAndNotBefore) {
    const auto one = runtime_.timer([&] { story_.emplace_back("one"); });
    const auto other = runtime_.timer([&] { story_.emplace_back("other"); });
    one->set(runtime_.now() + 20ms);
    other->set(runtime_.now() + 10ms);

    runtime_.sleep(9999us);
    EXPECT_THAT(story_, ElementsAre());
    runtime_.sleep(2us);
    EXPECT_THAT(story_, ElementsAre("other"));
    one->stop();
    runtime_.sleep(1h);

    EXPECT_THAT(story_, ElementsAre("other"));
}

std::string order_of_jobs(std::uint64_t seed) {
    HandMomentClock clock{kMidnight};
    VirtualRuntime runtime{seed, clock};
    std::string order;
    const auto workers = runtime.hire(8);
    for (char name = 'a'; name < 'i'; ++name) {
        workers->post([&, name] {
            runtime.sleep(1ms);
            order += name;
        });
    }
    workers->finish();
    return order;
}

TEST(VirtualRuntimeOrder, IsDrawnFromTheSeedAlone) {
    std::set<std::string> orders;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        EXPECT_EQ(order_of_jobs(seed), order_of_jobs(seed));
        orders.insert(order_of_jobs(seed));
    }

    EXPECT_GT(orders.size(), 15U);
}

}  // namespace
}  // namespace sluice::test
