#include <gtest/gtest.h>

#include <sluice/rate_limiter.hpp>

#include "support/scripted_repository.hpp"

namespace sluice::test {
namespace {

using std::chrono::minutes;

// A limiter whose repository does not answer.
class RepositoryFailureTest : public testing::Test {
protected:
    RepositoryFailureTest() {
        EXPECT_TRUE(plans_.put({.name = "gold", .capacity = 2, .refill = "1/h"}));
        EXPECT_TRUE(plans_.put({.name = "vast", .capacity = 2'000'000, .refill = "1/s"}));
        put("strict", "closed");
        put("near", "local");
        EXPECT_TRUE(plans_.put({.name = "places",
                                .algorithm = "concurrency",
                                .capacity = 1,
                                .window = "PT10M",
                                .on_store_failure = "local"}));
        repository_.answer = Unexpected{RepositoryError::Unavailable};
    }

    void put(const std::string& name, const std::string& on_store_failure) {
        EXPECT_TRUE(
            plans_.put({.name = name, .capacity = 2, .refill = "1/h", .on_store_failure = on_store_failure}));
    }
    RateLimitReason reason(RateLimiter::Names plans, std::int64_t tokens = 1) {
        return limiter_->allow("k", plans, tokens).reason;
    }

    InMemoryPlanRegistry plans_;
    ScriptedRepository repository_;
    std::unique_ptr<RateLimiter> limiter_ = make_rate_limiter(plans_, repository_);
};

TEST_F(RepositoryFailureTest, AllowsUnlessThePlanSaysOtherwise) {
    const RateLimitResult result = limiter_->allow("k", {"gold"});

    EXPECT_TRUE(result.allowed);
    EXPECT_EQ(result.reason, RateLimitReason::FailOpen);
    EXPECT_EQ(result.plan, "gold");
}

TEST_F(RepositoryFailureTest, DeniesIfOnePlanFailsClosedAndSaysWhenToTryAgain) {
    const RateLimitResult result = limiter_->allow("k", {"gold", "strict"});

    EXPECT_FALSE(result.allowed);
    EXPECT_EQ(result.reason, RateLimitReason::FailClosed);
    EXPECT_EQ(result.plan, "strict");
    EXPECT_GT(result.wait.count(), 0);
}

TEST_F(RepositoryFailureTest, DecidesLocalPlansByItselfUntilTheRepositoryAnswersAgain) {
    EXPECT_EQ(reason({"near"}), RateLimitReason::Local);
    EXPECT_EQ(limiter_->allow("k", {"gold", "near"}).remaining, 0);

    const RateLimitResult denied = limiter_->allow("k", {"near"});
    EXPECT_FALSE(denied.allowed);
    EXPECT_EQ(denied.reason, RateLimitReason::Local);
    EXPECT_GT(denied.wait, minutes{55});
    EXPECT_TRUE(limiter_->allow("other", {"near"}).allowed);
    repository_.answer = Acquisition{.allowed = true, .remaining = 1};

    EXPECT_EQ(reason({"near"}), RateLimitReason::Ok);
}

TEST_F(RepositoryFailureTest, TakesBackALeaseOfItsOwnWhereItGaveIt) {
    const RateLimitResult result = limiter_->allow("k", {"places"});
    EXPECT_TRUE(result.allowed);
    EXPECT_FALSE(limiter_->allow("k", {"places"}).allowed);
    repository_.answer = Acquisition{.allowed = true};  // It answers again, and knows nothing of the lease.

    EXPECT_TRUE(limiter_->release("k", "places", result.lease).value());

    EXPECT_EQ(limiter_->release("k", "places", result.lease).error().kind, RateLimitErrorKind::Unsupported);
    repository_.answer = Unexpected{RepositoryError::Unavailable};
    EXPECT_TRUE(limiter_->allow("k", {"places"}).allowed);
}

TEST_F(RepositoryFailureTest, GivesTokensBackWhereTheyWereTaken) {
    EXPECT_TRUE(limiter_->allow("k", {"near"}, 2).allowed);

    EXPECT_TRUE(limiter_->refund("k", {"near"}, 2));

    EXPECT_TRUE(limiter_->allow("k", {"near"}, 2).allowed);
    EXPECT_TRUE(limiter_->refund("k", {"near"}, 2));
    EXPECT_FALSE(limiter_->refund("k", {"near"}, 2)) << "only the repository could have it";
    EXPECT_FALSE(limiter_->refund("k", {"gold"}, 2));
}

TEST_F(RepositoryFailureTest, FailsOpenForAMillionTokensOfEachPlan) {
    EXPECT_EQ(reason({"vast"}, 1'000'000), RateLimitReason::FailOpen);
    EXPECT_EQ(reason({"vast"}), RateLimitReason::FailClosed);
    EXPECT_EQ(reason({"gold"}), RateLimitReason::FailOpen);
}

TEST_F(RepositoryFailureTest, RefusesWhatCouldNeverBeAllTheSame) {
    const std::vector<std::string_view> seventeen(17, "gold");

    EXPECT_EQ(reason({"gold"}, 3), RateLimitReason::Invalid);
    EXPECT_EQ(reason({"gold"}, -1), RateLimitReason::Invalid);
    EXPECT_EQ(limiter_->allow("k", seventeen, 1).reason, RateLimitReason::Invalid);
    EXPECT_EQ(limiter_->allow(std::string(257, 'k'), {"gold"}).reason, RateLimitReason::Invalid);
    EXPECT_EQ(limiter_->allow("", {"gold"}).reason, RateLimitReason::Invalid);
    EXPECT_EQ(limiter_->allow("k", {"silver"}).reason, RateLimitReason::MissingPlan);
}

TEST_F(RepositoryFailureTest, TreatsOneThatIsFullLikeOneThatDoesNotAnswer) {
    repository_.answer = Unexpected{RepositoryError::Full};

    EXPECT_EQ(reason({"gold"}), RateLimitReason::FailOpen);
    EXPECT_EQ(reason({"strict"}), RateLimitReason::FailClosed);
    repository_.answer = Unexpected{RepositoryError::Invalid};
    EXPECT_EQ(reason({"gold"}), RateLimitReason::Invalid);
}

TEST_F(RepositoryFailureTest, DeniesAKeyThatOthersHoldWhateverThePlansSay) {
    EXPECT_TRUE(plans_.put({.name = "tried", .capacity = 2, .refill = "1/h", .shadow = true}));
    repository_.answer = Unexpected{RepositoryError::Contended};

    for (const char* name : {"gold", "strict", "near"}) {
        const RateLimitResult result = limiter_->allow("k", {name});

        EXPECT_FALSE(result.allowed) << name;
        EXPECT_EQ(result.reason, RateLimitReason::Contended) << name;
        EXPECT_GT(result.wait.count(), 0) << name;
    }
    EXPECT_EQ(reason({"tried"}), RateLimitReason::Shadow);
}

TEST_F(RepositoryFailureTest, TreatsOneThatThrowsLikeOneThatDoesNotAnswer) {
    repository_.answer = Acquisition{.allowed = true};
    repository_.throws = true;

    EXPECT_EQ(reason({"gold"}), RateLimitReason::FailOpen);
    EXPECT_EQ(reason({"strict"}), RateLimitReason::FailClosed);
    EXPECT_EQ(reason({"near"}), RateLimitReason::Local);
    EXPECT_EQ(limiter_->refund("k", {"gold"}).error().kind, RateLimitErrorKind::Unavailable);
}

class BrokenResolver final : public KeyResolver {
public:
    [[nodiscard]] std::optional<std::string> resolve(const RequestSource& /*source*/) const override {
        throw std::runtime_error{"the directory is away"};
    }
};

class NoSource final : public RequestSource {
public:
    [[nodiscard]] std::optional<std::string> header(std::string_view /*name*/) const override { return {}; }
    [[nodiscard]] std::optional<std::string> principal() const override { return {}; }
};

TEST_F(RepositoryFailureTest, TreatsAKeyResolverThatThrowsLikeAStoreThatDoesNotAnswer) {
    repository_.answer = Acquisition{.allowed = true};
    const BrokenResolver broken;
    const NoSource source;
    const auto reason_of = [&](RateLimiter::Names plans) {
        return limiter_->allow(broken, source, plans).reason;
    };

    EXPECT_EQ(reason_of({"gold"}), RateLimitReason::FailOpen);
    EXPECT_EQ(reason_of({"strict"}), RateLimitReason::FailClosed);
    EXPECT_EQ(reason_of({"near"}), RateLimitReason::Local);
    EXPECT_EQ(reason_of({"silver"}), RateLimitReason::MissingPlan);
    EXPECT_EQ(limiter_->allow(PrincipalKeyResolver{}, source, {"gold"}).reason, RateLimitReason::Invalid);
}

TEST_F(RepositoryFailureTest, SaysWhatARepositoryCannotDo) {
    EXPECT_EQ(limiter_->refund("k", {"gold"}).error().kind, RateLimitErrorKind::Unsupported);
    EXPECT_EQ(limiter_->release("k", "gold", 1).error().kind, RateLimitErrorKind::Unsupported);
    EXPECT_EQ(limiter_->reset("k", {"gold"}).error().kind, RateLimitErrorKind::Unsupported);
    EXPECT_EQ(limiter_->inspect("k", {"gold"}).error().kind, RateLimitErrorKind::Unsupported);
    EXPECT_EQ(limiter_->put_override("k", {.plan = "gold"}).error().kind, RateLimitErrorKind::Unsupported);
}

}  // namespace
}  // namespace sluice::test
