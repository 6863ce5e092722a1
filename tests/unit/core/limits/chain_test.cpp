#include "core/limits/chain.hpp"

#include <gtest/gtest.h>

#include "support/limit_words.hpp"

namespace sluice::test {
namespace {

const Plan kBurst = plan("burst", bucket(10, 1, 1s));
const Plan kHourly = plan("hourly", aligned(20, 1h));
const Plan kStrict = plan("strict", aligned(3, 1min));

std::vector<ChainLink> chain(std::initializer_list<const Plan*> plans) {
    std::vector<ChainLink> links;
    for (const Plan* each : plans) {
        links.push_back({each, each->fresh()});
    }
    return links;
}

TEST(Chain, ChargesEveryPlanWhenAllPass) {
    auto links = chain({&kBurst, &kHourly});

    const Verdict verdict = decide_chain(links, {kMidnight, 4});

    EXPECT_TRUE(verdict.allowed);
    EXPECT_EQ(std::get<TokenBucket::State>(links[0].state).level, 6'000'000);
    EXPECT_EQ(std::get<FixedWindow::State>(links[1].state).used, 4);
}

TEST(Chain, ChargesNoneWhenTheThirdDenies) {
    auto links = chain({&kBurst, &kHourly, &kStrict});
    decide_chain(links, {kMidnight, 3});
    const auto before = links;

    const Verdict verdict = decide_chain(links, {kMidnight + 1s, 1});

    EXPECT_FALSE(verdict.allowed);
    EXPECT_EQ(verdict.plan, 2U);
    EXPECT_EQ(verdict.retry_after, 59s);
    for (std::size_t i = 0; i < links.size(); ++i) {
        EXPECT_EQ(links[i].state, before[i].state);
    }
}

TEST(Chain, NamesTheDenierThatKeepsTheCheckWaitingLongest) {
    auto links = chain({&kStrict, &kHourly});
    links[0].state = FixedWindow::State{3, microseconds_of(kMidnight)};
    links[1].state = FixedWindow::State{20, microseconds_of(kMidnight)};

    const Verdict verdict = decide_chain(links, {kMidnight, 1});

    EXPECT_EQ(verdict.plan, 1U);
    EXPECT_EQ(verdict.retry_after, 1h);
}

TEST(Chain, NamesTheFirstOfEquals) {
    const Plan twin = plan("twin", aligned(3, 1min));
    auto links = chain({&kHourly, &kStrict, &twin});

    EXPECT_EQ(decide_chain(links, {kMidnight, 3}).plan, 1U);
    EXPECT_EQ(decide_chain(links, {kMidnight, 1}).plan, 1U);
}

TEST(Chain, NamesTheTightestPlanWhenAllPass) {
    auto links = chain({&kBurst, &kHourly, &kStrict});

    const Verdict verdict = decide_chain(links, {kMidnight, 1});

    EXPECT_EQ(verdict.plan, 2U);
    EXPECT_EQ(verdict.limit, 3);
    EXPECT_EQ(verdict.remaining, 2);
    EXPECT_EQ(verdict.reset_after, 1min);
}

TEST(Chain, APlanInShadowModeIsNamedButDeniesNothing) {
    const Plan shadow = plan("shadow", aligned(1, 1min), kShadow);
    auto links = chain({&kBurst, &shadow});
    decide_chain(links, {kMidnight, 1});

    const Verdict verdict = decide_chain(links, {kMidnight, 1});

    EXPECT_TRUE(verdict.allowed);
    EXPECT_TRUE(verdict.shadowed);
    EXPECT_EQ(verdict.plan, 1U);
    EXPECT_EQ(std::get<TokenBucket::State>(links[0].state).level, 8'000'000);
    EXPECT_EQ(std::get<FixedWindow::State>(links[1].state).used, 1);
}

TEST(Chain, APlanThatDeniesOutweighsOneInShadowMode) {
    const Plan shadow = plan("shadow", aligned(1, 1h), kShadow);
    auto links = chain({&shadow, &kStrict});
    links[0].state = FixedWindow::State{1, microseconds_of(kMidnight)};
    links[1].state = FixedWindow::State{3, microseconds_of(kMidnight)};

    const Verdict verdict = decide_chain(links, {kMidnight, 1});

    EXPECT_FALSE(verdict.allowed);
    EXPECT_FALSE(verdict.shadowed);
    EXPECT_EQ(verdict.plan, 1U);
}

TEST(Chain, APeekChargesNothing) {
    auto links = chain({&kBurst, &kStrict});
    const auto before = links;

    EXPECT_TRUE(decide_chain(links, {kMidnight, 0}).allowed);

    EXPECT_EQ(links[0].state, before[0].state);
    EXPECT_EQ(links[1].state, before[1].state);
}

TEST(Chain, ReturnsTheLeaseThatAConcurrencyPlanGranted) {
    const Plan places = plan("places", good(Concurrency::make(1, 1min)));
    auto links = chain({&kBurst, &places});

    EXPECT_EQ(decide_chain(links, {kMidnight, 1, LeaseId{7}}).lease, LeaseId{7});
    EXPECT_EQ(decide_chain(links, {kMidnight, 1, LeaseId{8}}).lease, LeaseId{});
}

}  // namespace
}  // namespace sluice::test
