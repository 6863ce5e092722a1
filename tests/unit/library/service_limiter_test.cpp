#include "library/service_limiter.hpp"

#include <future>

#include <gtest/gtest.h>

#include "support/faulty_limit_store.hpp"

namespace sluice::test {
namespace {

using std::chrono::milliseconds;

// The limiter that open_limiter() makes, over a store that does as it is told.
class ServiceLimiterTest : public testing::Test {
protected:
    ServiceLimiterTest() {
        auto plans = std::make_unique<PlanBook>();
        const auto bucket = [](std::string name, std::string on_store_failure) {
            return PlanDraft{.name = std::move(name),
                             .algorithm = "token_bucket",
                             .capacity = 2,
                             .refill = "1/h",
                             .on_store_failure = std::move(on_store_failure)};
        };
        EXPECT_TRUE(
            plans->load({bucket("gold", "open"), bucket("strict", "closed"), bucket("near", "local")}));
        LimitServiceOptions options;
        options.calls = StoreCalls::Blocking;
        options.deadline = milliseconds{20};
        options.policy.open.tokens = 3;
        auto store = std::make_unique<FaultyLimitStore>(*real_.store);
        store_ = store.get();
        OwnedStore owned;
        owned.store = std::move(store);
        limiter_ = make_service_limiter(std::move(plans), std::move(owned), options, MissingPlan::Deny);
    }

    RateLimitReason reason(RateLimiter::Names plans) { return limiter_->allow("k", plans).reason; }

    OwnedStore real_ = make_memory_store(100);
    FaultyLimitStore* store_ = nullptr;
    std::unique_ptr<RateLimiter> limiter_;
};

TEST_F(ServiceLimiterTest, AnswersByThePlansWhenTheStoreIsLate) {
    std::promise<void> released;
    store_->before = [held = released.get_future().share()](std::uint64_t) -> std::optional<LimitFault> {
        held.wait();
        return std::nullopt;
    };

    EXPECT_EQ(reason({"gold"}), RateLimitReason::FailOpen);
    EXPECT_EQ(reason({"gold", "strict"}), RateLimitReason::FailClosed);
    EXPECT_EQ(reason({"near"}), RateLimitReason::Local);
    released.set_value();
}

TEST_F(ServiceLimiterTest, FailsOpenWithinItsBudget) {
    store_->before = [](std::uint64_t) { return std::optional{LimitFault::Unavailable}; };

    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(reason({"gold"}), RateLimitReason::FailOpen);
    }
    EXPECT_EQ(reason({"gold"}), RateLimitReason::FailClosed);
}

TEST_F(ServiceLimiterTest, SaysThatTheStoreDoesNotAnswerWhereNoPlanCanStandIn) {
    store_->before = [](std::uint64_t) { return std::optional{LimitFault::Unavailable}; };

    EXPECT_EQ(limiter_->refund("k", {"gold"}).error().kind, RateLimitErrorKind::Unavailable);
    EXPECT_EQ(limiter_->reset("k", {"gold"}).error().kind, RateLimitErrorKind::Unavailable);
    EXPECT_EQ(limiter_->inspect("k", {"gold"}).error().kind, RateLimitErrorKind::Unavailable);
    EXPECT_EQ(limiter_->put_override("k", {.plan = "gold"}).error().kind, RateLimitErrorKind::Unavailable);
}

TEST_F(ServiceLimiterTest, SaysThatThereIsNoRoomForAnOverride) {
    store_->before = [](std::uint64_t) { return std::optional{LimitFault::Full}; };

    EXPECT_EQ(limiter_->put_override("k", {.plan = "gold"}).error().kind, RateLimitErrorKind::Full);
}

}  // namespace
}  // namespace sluice::test
