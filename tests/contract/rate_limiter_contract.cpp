#include "contract/rate_limiter_contract.hpp"

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <thread>

#include <sluice/open_limiter.hpp>

#include "support/temp_folder.hpp"

namespace sluice::test {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::system_clock;

// The plans that both kinds of limiters know.
const std::vector<RateLimitConfig> kPlans{
    {.name = "gold", .capacity = 3, .refill = "1/h"},
    {.name = "daily", .algorithm = "fixed_window", .capacity = 5, .window = "PT24H", .start = "first_hit"},
    {.name = "places", .algorithm = "concurrency", .capacity = 2, .window = "PT10M"},
    {.name = "trial", .capacity = 1, .refill = "1/h", .shadow = true},
    {.name = "hundred", .capacity = 100, .refill = "1/h"},
};

std::string in_yaml(const RateLimitConfig& plan) {
    std::string text = "  - {name: " + plan.name + ", algorithm: " + plan.algorithm +
                       ", capacity: " + std::to_string(plan.capacity.value());
    for (const auto& [key, value] :
         {std::pair{"refill", plan.refill}, {"window", plan.window}, {"start", plan.start}}) {
        text += value.empty() ? "" : std::string{", "} + key + ": " + value;
    }
    return text + (plan.shadow ? ", shadow: true}\n" : "}\n");
}

class LimiterOver final : public LimiterUnderTest {
public:
    LimiterOver(std::unique_ptr<RateLimiterRepository> repository, MissingPlan missing)
        : repository_{std::move(repository)}, limiter_{make_rate_limiter(plans_, *repository_, missing)} {
        for (const RateLimitConfig& plan : kPlans) {
            EXPECT_TRUE(plans_.put(plan)) << plan.name;
        }
    }
    RateLimiter& limiter() override { return *limiter_; }

private:
    InMemoryPlanRegistry plans_;
    std::unique_ptr<RateLimiterRepository> repository_;
    std::unique_ptr<RateLimiter> limiter_;
};

class LimiterOfFile final : public LimiterUnderTest {
public:
    explicit LimiterOfFile(std::unique_ptr<RateLimiter> limiter) : limiter_{std::move(limiter)} {}
    RateLimiter& limiter() override { return *limiter_; }

private:
    std::unique_ptr<RateLimiter> limiter_;
};

}  // namespace

std::unique_ptr<LimiterUnderTest> limiter_over(std::unique_ptr<RateLimiterRepository> repository,
                                               MissingPlan missing) {
    return std::make_unique<LimiterOver>(std::move(repository), missing);
}

std::unique_ptr<LimiterUnderTest> limiter_of_file(const std::string& lines, MissingPlan missing) {
    const TempFolder folder;
    std::string text = lines + "plans:\n";
    for (const RateLimitConfig& plan : kPlans) {
        text += in_yaml(plan);
    }
    std::ofstream{folder / "limiter.yaml"} << text;
    auto opened = open_limiter(folder / "limiter.yaml", missing);
    if (!opened) {
        throw std::runtime_error{opened.error()};
    }
    return std::make_unique<LimiterOfFile>(std::move(*opened));
}

void RateLimiterContract::SetUp() {
    begin(MissingPlan::Deny);
    if (!world_) {
        const char* const continuous = std::getenv("CI");
        ASSERT_FALSE(continuous != nullptr && std::string_view{continuous} == "true");
        GTEST_SKIP() << "its server is not there; tools/services starts it";
    }
}

void RateLimiterContract::begin(MissingPlan missing) {
    world_.reset();
    world_ = GetParam().make(missing);
}

TEST_P(RateLimiterContract, ChargesAllPlansOrNone) {
    EXPECT_EQ(limiter().allow("k", {"daily", "gold"}, 3).reason, RateLimitReason::Ok);

    const RateLimitResult denied = limiter().allow("k", {"daily", "gold"});

    EXPECT_FALSE(denied.allowed);
    EXPECT_EQ(denied.reason, RateLimitReason::Denied);
    EXPECT_EQ(denied.plan, "gold");
    EXPECT_GT(denied.wait, minutes{55});
    EXPECT_LE(denied.wait, hours{1});
    EXPECT_EQ(left("k", "daily"), 2);
}

TEST_P(RateLimiterContract, OnlyLooksForNoTokens) {
    EXPECT_EQ(limiter().allow("k", {"gold"}, 0).remaining, 3);
    EXPECT_EQ(limiter().allow("k", {"gold"}, 0).remaining, 3);
    EXPECT_TRUE(limiter().allow("k", {"gold"}, 3).allowed);

    EXPECT_FALSE(limiter().allow("k", {"gold"}, 0).allowed);
}

TEST_P(RateLimiterContract, RefusesWhatCouldNeverBeAndChargesNothing) {
    EXPECT_EQ(limiter().allow("k", {"gold"}, 4).reason, RateLimitReason::Invalid);
    EXPECT_EQ(limiter().allow("k", {"daily", "gold"}, 4).reason, RateLimitReason::Invalid);
    EXPECT_EQ(limiter().allow("k", {"gold"}, -1).reason, RateLimitReason::Invalid);
    EXPECT_EQ(limiter().allow("k", {"gold", "gold"}).reason, RateLimitReason::Invalid);
    EXPECT_EQ(limiter().allow("k", RateLimiter::Names{}).reason, RateLimitReason::Invalid);

    EXPECT_EQ(left("k", "gold"), 3);
    EXPECT_EQ(left("k", "daily"), 5);
}

TEST_P(RateLimiterContract, TakesKeysOfUpTo256BytesOfAnything) {
    const std::string odd{"\0{}%\xff\n", 6};
    const std::string longest(256, '\xfe');

    EXPECT_EQ(limiter().allow(odd, {"gold"}, 2).remaining, 1);
    EXPECT_EQ(limiter().allow(longest, {"gold"}, 3).remaining, 0);
    EXPECT_EQ(limiter().allow(odd, {"gold"}).remaining, 0);
    EXPECT_EQ(left(odd.substr(0, 5), "gold"), 3);
    EXPECT_EQ(limiter().allow(longest + "x", {"gold"}).reason, RateLimitReason::Invalid);
    EXPECT_EQ(limiter().allow("", {"gold"}).reason, RateLimitReason::Invalid);
}

TEST_P(RateLimiterContract, SaysWhenOnlyAShadowWouldHaveDenied) {
    EXPECT_TRUE(limiter().allow("k", {"trial"}).allowed);

    const RateLimitResult result = limiter().allow("k", {"trial"});

    EXPECT_TRUE(result.allowed);
    EXPECT_EQ(result.reason, RateLimitReason::Shadow);
}

TEST_P(RateLimiterContract, DeniesAPlanThatNobodyKnowsAndChargesNothing) {
    const RateLimitResult denied = limiter().allow("k", {"gold", "silver"});

    EXPECT_FALSE(denied.allowed);
    EXPECT_EQ(denied.reason, RateLimitReason::MissingPlan);
    EXPECT_EQ(denied.plan, "silver");
    EXPECT_EQ(left("k", "gold"), 3);
    EXPECT_EQ(limiter().refund("k", {"silver"}).error().kind, RateLimitErrorKind::MissingPlan);
    EXPECT_EQ(limiter().release("k", "silver", 1).error().kind, RateLimitErrorKind::MissingPlan);
    EXPECT_EQ(limiter().reset("k", {"silver"}).error().kind, RateLimitErrorKind::MissingPlan);
    EXPECT_EQ(limiter().inspect("k", {"silver"}).error().kind, RateLimitErrorKind::MissingPlan);
    EXPECT_EQ(limiter().put_override("k", {.plan = "silver"}).error().kind, RateLimitErrorKind::MissingPlan);
}

TEST_P(RateLimiterContract, LeavesAMissingPlanOutIfToldSo) {
    begin(MissingPlan::Allow);

    EXPECT_EQ(limiter().allow("k", {"silver", "gold"}, 3).plan, "gold");
    EXPECT_FALSE(limiter().allow("k", {"gold", "silver"}).allowed);
    const RateLimitResult alone = limiter().allow("k", {"silver"});

    EXPECT_TRUE(alone.allowed);
    EXPECT_EQ(alone.reason, RateLimitReason::MissingPlan);
    EXPECT_EQ(alone.plan, "silver");
}

TEST_P(RateLimiterContract, RefundsNoMoreThanIsCharged) {
    EXPECT_TRUE(limiter().allow("k", {"gold", "daily"}, 2).allowed);

    EXPECT_TRUE(limiter().refund("k", {"gold", "daily"}));
    EXPECT_EQ(left("k", "gold"), 2);
    EXPECT_EQ(left("k", "daily"), 4);
    EXPECT_TRUE(limiter().refund("k", {"gold"}, 3));
    EXPECT_EQ(left("k", "gold"), 3);
    EXPECT_EQ(limiter().refund("k", {"gold"}, 4).error().kind, RateLimitErrorKind::Invalid);
    EXPECT_EQ(limiter().refund("k", RateLimiter::Names{}).error().kind, RateLimitErrorKind::Invalid);
}

TEST_P(RateLimiterContract, ReleasesALeaseOnce) {
    const std::uint64_t first = limiter().allow("k", {"places"}).lease;
    const std::uint64_t second = limiter().allow("k", {"gold", "places"}).lease;
    EXPECT_FALSE(limiter().allow("k", {"places"}).allowed);

    EXPECT_NE(first, 0U);
    EXPECT_NE(second, first);
    EXPECT_TRUE(limiter().release("k", "places", first).value());
    EXPECT_FALSE(limiter().release("k", "places", first).value());
    EXPECT_EQ(left("k", "places"), 1);
    EXPECT_EQ(limiter().release("k", "gold", second).error().kind, RateLimitErrorKind::Invalid);
    EXPECT_EQ(limiter().allow("k", {"gold"}).lease, 0U);
}

TEST_P(RateLimiterContract, ResetsThesePlansOfThisKeyOnly) {
    for (const char* const key : {"a", "b"}) {
        EXPECT_TRUE(limiter().allow(key, {"gold", "daily"}, 3).allowed);
    }

    EXPECT_TRUE(limiter().reset("a", {"gold"}));

    EXPECT_EQ(left("a", "gold"), 3);
    EXPECT_EQ(left("a", "daily"), 2);
    EXPECT_EQ(left("b", "gold"), 0);
    EXPECT_EQ(limiter().reset("a", RateLimiter::Names{}).error().kind, RateLimitErrorKind::Invalid);
    EXPECT_EQ(limiter().reset("", {"gold"}).error().kind, RateLimitErrorKind::Invalid);
}

TEST_P(RateLimiterContract, InspectsEachPlanAndChargesNothing) {
    EXPECT_TRUE(limiter().allow("k", {"gold"}, 3).allowed);

    const auto standings = limiter().inspect("k", {"gold", "daily"}).value();

    ASSERT_EQ(standings.size(), 2U);
    EXPECT_EQ(standings[0].plan, "gold");
    EXPECT_FALSE(standings[0].allowed);
    EXPECT_EQ(standings[0].limit, 3);
    EXPECT_EQ(standings[0].remaining, 0);
    EXPECT_GT(standings[0].wait, minutes{55});
    EXPECT_GT(standings[0].reset, hours{2});
    EXPECT_EQ(standings[1].plan, "daily");
    EXPECT_TRUE(standings[1].allowed);
    EXPECT_EQ(standings[1].remaining, 5);
    EXPECT_EQ(left("k", "daily"), 5);
    EXPECT_EQ(limiter().inspect("k", RateLimiter::Names{}).error().kind, RateLimitErrorKind::Invalid);
}

TEST_P(RateLimiterContract, OverridesAPlanForOneKeyUntilItEnds) {
    EXPECT_TRUE(limiter().allow("k", {"gold"}, 3).allowed);
    RateLimitOverride instead{.plan = "gold", .until = system_clock::now() + hours{1}};
    instead.capacity = 10;

    ASSERT_TRUE(limiter().put_override("k", instead));
    EXPECT_EQ(limiter().allow("k", {"gold"}, 4).remaining, 6);
    EXPECT_EQ(left("other", "gold"), 3);
    instead.until = {};
    ASSERT_TRUE(limiter().put_override("k", instead));

    EXPECT_FALSE(limiter().allow("k", {"gold"}).allowed);
}

TEST_P(RateLimiterContract, RefusesAnOverrideThatIsNoRule) {
    RateLimitOverride instead{.plan = "gold", .until = system_clock::time_point::max()};
    instead.refill = "soon";

    const auto refused = limiter().put_override("k", instead);

    EXPECT_EQ(refused.error().kind, RateLimitErrorKind::Invalid);
    EXPECT_NE(refused.error().what.find("gold"), std::string::npos) << refused.error().what;
    instead.refill = "2/h";
    EXPECT_TRUE(limiter().put_override("k", instead));
    EXPECT_EQ(left("k", "gold"), 3);
}

TEST_P(RateLimiterContract, AdmitsExactlyWhatIsLeftToManyThreads) {
    constexpr int kThreads = 8;
    constexpr int kCallsOfEach = 25;
    std::atomic<int> allowed = 0;
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < kThreads; ++i) {
            threads.emplace_back([&] {
                for (int call = 0; call < kCallsOfEach; ++call) {
                    allowed += limiter().allow("k", {"hundred"}).allowed ? 1 : 0;
                }
            });
        }
    }

    EXPECT_EQ(allowed, 100);
}

}  // namespace sluice::test
