#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sluice/key_resolver.hpp>
#include <sluice/rate_limiter.hpp>
#include <sluice/repositories.hpp>

#include "support/scripted_repository.hpp"

namespace sluice::test {
namespace {

using testing::HasSubstr;

class RateLimiterTest : public testing::Test {
protected:
    RateLimiterTest() {
        EXPECT_TRUE(plans_.put({.name = "gold", .capacity = 2, .refill = "1/h"}));
        EXPECT_TRUE(
            plans_.put({.name = "closed", .capacity = 5, .refill = "1/h", .on_store_failure = "closed"}));
    }

    InMemoryPlanRegistry plans_;
    ScriptedRepository scripted_;
    std::unique_ptr<RateLimiterRepository> memory_ = make_memory_repository({.keys_max = 100});
    std::unique_ptr<RateLimiter> limiter_ = make_rate_limiter(plans_, *memory_);
    std::unique_ptr<RateLimiter> failing_ = make_rate_limiter(plans_, scripted_);
};

TEST_F(RateLimiterTest, OutlivesARepositoryThatAnswersNonsense) {
    scripted_.answer = Acquisition{true, false, 7, 1, {}};

    EXPECT_EQ(failing_->allow("a", {"gold"}).plan, "gold");
    scripted_.answer = Unexpected{RepositoryError::Unavailable};
    EXPECT_EQ(failing_->allow("a", std::initializer_list<std::string_view>{}).reason,
              RateLimitReason::Invalid);
}

TEST_F(RateLimiterTest, DecidesAPlanInShadowModeAndDeniesNothingByIt) {
    ASSERT_TRUE(plans_.put({.name = "trial", .capacity = 1, .refill = "1/h", .shadow = true}));
    limiter_->allow("a", {"trial"});

    const RateLimitResult result = limiter_->allow("a", {"gold", "trial"});

    EXPECT_TRUE(result.allowed);
    EXPECT_EQ(result.reason, RateLimitReason::Shadow);
    EXPECT_EQ(result.plan, "trial");
    EXPECT_EQ(limiter_->allow("a", {"gold"}, 0).remaining, 1);
}

TEST_F(RateLimiterTest, DeniesNewKeysWhileTheRepositoryIsFull) {
    for (int i = 0; i < 100; ++i) {
        ASSERT_TRUE(limiter_->allow("key-" + std::to_string(i), {"gold"}).allowed);
    }

    const RateLimitResult denied = limiter_->allow("one more", {"gold"});

    EXPECT_FALSE(denied.allowed);
    EXPECT_GT(denied.wait, std::chrono::minutes{59});
    EXPECT_THROW(make_memory_repository({.keys_max = 0}), std::invalid_argument);
}

TEST_F(RateLimiterTest, SaysWhenOnlyTheShadowWouldHaveDenied) {
    scripted_.answer = Acquisition{true, true, 0, 0, std::chrono::seconds{1}};

    const RateLimitResult result = failing_->allow("a", {"gold"});

    EXPECT_TRUE(result.allowed);
    EXPECT_EQ(result.reason, RateLimitReason::Shadow);
}

TEST_F(RateLimiterTest, DoesNotRunWhatIsDenied) {
    int runs = 0;
    const auto guarded = [&] { return limited(*limiter_, "a", {"gold"}, 1, [&] { return ++runs; }); };

    EXPECT_EQ(*guarded(), 1);
    EXPECT_EQ(*guarded(), 2);
    EXPECT_EQ(guarded().error().result.plan, "gold");
    EXPECT_EQ(runs, 2);
    EXPECT_FALSE(limited(*limiter_, "a", {"gold"}, 1, [] {}));
}

TEST(InMemoryPlanRegistry, ReplacesAndRemovesAndRefusesTheMalformed) {
    InMemoryPlanRegistry plans;
    ASSERT_TRUE(plans.put({.name = "a", .capacity = 1, .refill = "1/s"}));

    EXPECT_THAT(plans.put({.name = "a", .capacity = 1, .refill = "soon"}).error(), HasSubstr("plan 'a'"));
    EXPECT_THAT(plans.put({.name = "a", .capacity = 1, .refill = "1/s", .on_store_failure = "ajar"}).error(),
                HasSubstr("on_store_failure"));
    EXPECT_TRUE(plans.find("a"));
    EXPECT_TRUE(plans.remove("a"));
    EXPECT_FALSE(plans.remove("a"));
    EXPECT_FALSE(plans.find("a"));
}

class Request final : public RequestSource {
public:
    [[nodiscard]] std::optional<std::string> header(std::string_view name) const override {
        return name == "X-API-KEY" ? std::optional<std::string>{key} : std::nullopt;
    }
    [[nodiscard]] std::optional<std::string> principal() const override { return user; }

    std::string key = "k1";
    std::optional<std::string> user;
};

TEST(KeyResolver, TakesAHeaderOrThePrincipalAndNothingEmpty) {
    Request request;

    EXPECT_EQ(HeaderKeyResolver{"X-API-KEY"}.resolve(request), "k1");
    EXPECT_EQ(HeaderKeyResolver{"Other"}.resolve(request), std::nullopt);
    EXPECT_EQ(PrincipalKeyResolver{}.resolve(request), std::nullopt);
    request.user = "ann";
    request.key = "";
    EXPECT_EQ(PrincipalKeyResolver{}.resolve(request), "ann");
    EXPECT_EQ(HeaderKeyResolver{"X-API-KEY"}.resolve(request), std::nullopt);
}

}  // namespace
}  // namespace sluice::test
