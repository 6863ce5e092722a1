#include "app/limits/limit_service.hpp"

#include <future>
#include <latch>

#include <gtest/gtest.h>

#include "store/memory/memory_limit_store.hpp"
#include "support/counting_limit_metrics.hpp"
#include "support/faulty_limit_store.hpp"
#include "support/gate.hpp"
#include "support/hand_moment_clock.hpp"
#include "support/limit_words.hpp"
#include "support/plan_drafts.hpp"
#include "support/recording_log.hpp"

namespace sluice::test {
namespace {

using Names = std::vector<std::string_view>;

// A service with plans of every kind, over a memory store whose clock stands still. "places" gives one lease.
class LimitServiceTest : public ::testing::TestWithParam<StoreCalls> {
protected:
    LimitServiceTest() {
        EXPECT_TRUE(book_.load(plans_of_every_kind("places", 1)));
        options_.calls = GetParam();
        options_.deadline = 5s;  // Long: tests that need it short set it.
        open();
    }
    ~LimitServiceTest() override { service_.reset(); }

    void open() {
        service_.reset();
        service_ = std::make_unique<LimitService>(
            options_, LimitServiceWorld{store_, *local_, book_, metrics_, servers_, *runtime_});
    }

    LimitReply check(std::string_view key, const Names& plans, Tokens cost = 1) {
        std::promise<LimitReply> promise;
        service_->check({key, plans, cost}, [&](LimitReply reply) { promise.set_value(std::move(reply)); });
        return promise.get_future().get();
    }
    LimitReply check_together(const std::vector<LimitQuestion>& questions) {
        std::promise<LimitReply> promise;
        service_->check_together(questions, [&](LimitReply reply) { promise.set_value(std::move(reply)); });
        return promise.get_future().get();
    }
    LimitReason reason(std::string_view key, const Names& plans, Tokens cost = 1) {
        return check(key, plans, cost).value().reason;
    }
    Tokens left(std::string_view key, std::string_view plan) {
        return check(key, {plan}, 0).value().remaining;
    }
    LimitErrorKind error(std::string_view key, const Names& plans, Tokens cost = 1) {
        return check(key, plans, cost).error().kind;
    }
    // Awaits whatever one of the other use cases completes with.
    template <class T, class Start>
    Result<T, LimitError> await(Start start) {
        std::promise<Result<T, LimitError>> promise;
        start([&](Result<T, LimitError> result) { promise.set_value(std::move(result)); });
        return promise.get_future().get();
    }
    void break_store(LimitFault fault = LimitFault::Unavailable) {
        store_.before = [fault](std::uint64_t) { return std::optional{fault}; };
    }

    const std::unique_ptr<Runtime> runtime_ = make_machine_runtime();
    HandMomentClock clock_{kMidnight};
    std::unique_ptr<MemoryLimitStore> memory_ =
        make_memory_limit_store({.keys_max = 1'000, .seed = 7}, clock_);
    std::unique_ptr<MemoryLimitStore> local_ =
        make_memory_limit_store({.keys_max = 1'000, .seed = 8}, clock_);
    FaultyLimitStore store_{*memory_};
    PlanBook book_;
    CountingLimitMetrics metrics_;
    RecordingLog log_;
    LimitServers servers_{log_, metrics_};
    LimitServiceOptions options_;
    std::unique_ptr<LimitService> service_;
};

TEST_P(LimitServiceTest, AllowsUntilAPlanDeniesAndNamesIt) {
    EXPECT_EQ(reason("k", {"gold", "daily"}, 3), LimitReason::Ok);

    const auto denied = check("k", {"daily", "gold"}).value();

    EXPECT_FALSE(denied.allowed);
    EXPECT_EQ(denied.reason, LimitReason::Denied);
    EXPECT_EQ(denied.plan->plan.name(), "gold");
    EXPECT_EQ(denied.limit, 3);
    EXPECT_EQ(denied.remaining, 0);
    EXPECT_EQ(denied.retry_after, Wait{1s});
    EXPECT_EQ(left("k", "daily"), 7);
    EXPECT_EQ(metrics_.count(LimitReason::Ok), 1U);
    EXPECT_EQ(metrics_.count(LimitReason::Denied), 1U);
}

TEST_P(LimitServiceTest, SaysThatAPlanInShadowModeWouldHaveDenied) {
    EXPECT_EQ(reason("k", {"tried"}), LimitReason::Ok);

    const auto answer = check("k", {"tried"}).value();

    EXPECT_TRUE(answer.allowed);
    EXPECT_EQ(answer.reason, LimitReason::Shadow);
}

TEST_P(LimitServiceTest, RefusesWhatIsWrongAndChargesNothing) {
    EXPECT_EQ(error("k", {"gold", "nobody"}), LimitErrorKind::UnknownPlan);
    EXPECT_EQ(check("k", {"nobody"}).error().detail, "There is no plan 'nobody'.");
    EXPECT_EQ(error("", {"gold"}), LimitErrorKind::InvalidKey);
    EXPECT_EQ(error(std::string(257, 'k'), {"gold"}), LimitErrorKind::InvalidKey);
    EXPECT_EQ(error("k", {}), LimitErrorKind::InvalidPlans);
    EXPECT_EQ(error("k", {"gold", "gold"}), LimitErrorKind::InvalidPlans);
    EXPECT_EQ(error("k", Names(17, "gold")), LimitErrorKind::InvalidPlans);
    EXPECT_EQ(error("k", {"gold"}, -1), LimitErrorKind::InvalidCost);
    EXPECT_EQ(error("k", {"daily", "gold"}, 4), LimitErrorKind::InvalidCost);

    EXPECT_EQ(left("k", "gold"), 3);
    EXPECT_EQ(left("k", "daily"), 10);
}

TEST_P(LimitServiceTest, AnswersEachOfManyInOrder) {
    const Names gold{"gold"};
    const Names nobody{"nobody"};
    const std::vector<LimitQuestion> questions{
        {"a", gold, 2}, {"a", nobody, 1}, {"a", gold, 2}, {"b", gold, 1}};
    std::promise<std::vector<LimitReply>> promise;

    service_->check_each(questions,
                         [&](std::vector<LimitReply> replies) { promise.set_value(std::move(replies)); });
    const auto replies = promise.get_future().get();

    ASSERT_EQ(replies.size(), 4U);
    EXPECT_TRUE(replies[0]->allowed);
    EXPECT_EQ(replies[1].error().kind, LimitErrorKind::UnknownPlan);
    EXPECT_FALSE(replies[2]->allowed);
    EXPECT_EQ(replies[3]->remaining, 2);
}

TEST_P(LimitServiceTest, RefusesChecksTogetherWhenOneIsWrong) {
    const Names gold{"gold"};
    const Names nobody{"nobody"};

    const auto reply = check_together({{"a", gold, 1}, {"b", nobody, 1}});

    EXPECT_EQ(reply.error().kind, LimitErrorKind::UnknownPlan);
    EXPECT_EQ(left("a", "gold"), 3);
}

TEST_P(LimitServiceTest, SaysWhichOfSeveralChecksTogetherIsDeniedAndChargesNone) {
    const Names both{"daily", "gold"};
    const Names gold{"gold"};
    ASSERT_EQ(reason("b", {"gold"}, 2), LimitReason::Ok);

    const auto reply = check_together({{"a", both, 1}, {"b", gold, 2}, {"c", gold, 1}});

    EXPECT_FALSE(reply->allowed);
    EXPECT_EQ(reply->check, 1U);
    EXPECT_EQ(reply->plan->plan.name(), "gold");
    EXPECT_EQ(left("a", "gold"), 3);
    EXPECT_EQ(left("b", "gold"), 1);
}

TEST_P(LimitServiceTest, DecidesOneCheckTogetherAsByItself) {
    const Names plans{"daily", "gold"};

    const auto reply = check_together({{"a", plans, 2}});

    EXPECT_TRUE(reply->allowed);
    EXPECT_EQ(reply->plan->plan.name(), "gold");
    EXPECT_EQ(reply->remaining, 1);
}

TEST_P(LimitServiceTest, GivesBackWhatWasTaken) {
    ASSERT_EQ(reason("k", {"gold"}, 3), LimitReason::Ok);
    const Names gold{"gold"};

    const auto given = await<std::monostate>([&](auto done) {
        service_->refund({"k", gold, 2}, std::move(done));
    });

    EXPECT_TRUE(given);
    EXPECT_EQ(left("k", "gold"), 2);
}

TEST_P(LimitServiceTest, ReleasesALeaseOnce) {
    const LeaseId lease = check("k", {"places"}).value().lease;
    ASSERT_FALSE(check("k", {"places"})->allowed);
    const auto release = [&](std::string_view plan) {
        return await<bool>([&](auto done) { service_->release("k", plan, lease, std::move(done)); });
    };

    EXPECT_TRUE(*release("places"));
    EXPECT_FALSE(*release("places"));
    EXPECT_TRUE(check("k", {"places"})->allowed);
    EXPECT_EQ(release("gold").error().kind, LimitErrorKind::InvalidPlans);
    EXPECT_EQ(release("nobody").error().kind, LimitErrorKind::UnknownPlan);
}

TEST_P(LimitServiceTest, ShowsAndResetsAKeyUnderAllPlansOrSome) {
    ASSERT_EQ(reason("k", {"gold", "daily"}, 2), LimitReason::Ok);
    const auto all =
        await<std::vector<KeyStanding>>([&](auto done) { service_->inspect("k", {}, std::move(done)); });
    ASSERT_EQ(all->size(), 6U);
    EXPECT_EQ((*all)[0].plan->plan.name(), "daily");
    EXPECT_EQ((*all)[0].standing.remaining, 8);

    const Names gold{"gold"};
    ASSERT_TRUE(await<std::monostate>([&](auto done) { service_->reset("k", gold, std::move(done)); }));
    EXPECT_EQ(left("k", "gold"), 3);
    EXPECT_EQ(left("k", "daily"), 8);

    ASSERT_TRUE(await<std::monostate>([&](auto done) { service_->reset("k", {}, std::move(done)); }));
    EXPECT_EQ(left("k", "daily"), 10);
}

TEST_P(LimitServiceTest, OverridesAPlanForOneKeyUntilItExpires) {
    const auto put = [&](PlanDraft draft, Moment until) {
        return await<Moment>([&](auto done) {
            service_->put_override({"k", "gold", draft, until}, std::move(done));
        });
    };
    ASSERT_TRUE(put({.name = "", .algorithm = "", .capacity = 50}, kMidnight + 1h));

    EXPECT_EQ(left("k", "gold"), 50);
    EXPECT_EQ(left("other", "gold"), 3);
    EXPECT_EQ(reason("k", {"gold"}, 40), LimitReason::Ok);
    const auto wrong = put({.name = "", .algorithm = "", .capacity = 0}, kMidnight + 1h);
    EXPECT_EQ(wrong.error().kind, LimitErrorKind::InvalidRule);

    ASSERT_TRUE(put({.name = "", .algorithm = ""}, kMidnight));
    EXPECT_EQ(left("k", "gold"), 3);
}

TEST_P(LimitServiceTest, SeesNewPlansWithTheNextCheck) {
    ASSERT_EQ(error("k", {"new"}), LimitErrorKind::UnknownPlan);

    ASSERT_TRUE(book_.put({.name = "new", .algorithm = "token_bucket", .capacity = 1, .refill = "1/s"}));

    EXPECT_EQ(reason("k", {"new"}), LimitReason::Ok);
}

TEST_P(LimitServiceTest, FailsAsEachPlanSays) {
    break_store();

    const auto open = check("k", {"gold", "daily"}).value();
    EXPECT_TRUE(open.allowed);
    EXPECT_EQ(open.reason, LimitReason::FailOpen);

    const auto closed = check("k", {"gold", "strict"}).value();
    EXPECT_FALSE(closed.allowed);
    EXPECT_EQ(closed.reason, LimitReason::FailClosed);
    EXPECT_EQ(closed.plan->plan.name(), "strict");
    EXPECT_GT(closed.retry_after, Wait{0});

    EXPECT_EQ(error("k", {"gold"}, 4), LimitErrorKind::InvalidCost);
    EXPECT_EQ(metrics_.count(LimitReason::FailOpen), 1U);
    EXPECT_EQ(metrics_.count(LimitReason::FailClosed), 1U);
}

TEST_P(LimitServiceTest, DeniesAKeyThatOthersHoldWhateverItsPlansSayOfFailures) {
    break_store(LimitFault::Contended);
    for (const char* name : {"gold", "strict", "near"}) {
        const auto denied = check("k", {"tried", name}).value();

        EXPECT_FALSE(denied.allowed) << name;
        EXPECT_EQ(denied.reason, LimitReason::Contended) << name;
        EXPECT_EQ(denied.plan->plan.name(), name);
        EXPECT_EQ(denied.retry_after, Wait{key_wait(options_.deadline)}) << name;
    }
    EXPECT_EQ(check_together({{"a", Names{"tried"}}, {"b", Names{"gold"}}})->check, 1U);

    EXPECT_EQ(reason("k", {"tried"}), LimitReason::Shadow);
    EXPECT_EQ(metrics_.count(LimitReason::Contended), 4U);
    EXPECT_EQ(metrics_.count(StoreFailure::Contended), 5U);
}

TEST_P(LimitServiceTest, DecidesLocallyWhereAPlanSaysSo) {
    break_store();

    EXPECT_EQ(check("k", {"gold", "near"})->reason, LimitReason::Local);
    EXPECT_EQ(check("k", {"near"})->remaining, 0);
    const auto denied = check("k", {"near"}).value();

    EXPECT_FALSE(denied.allowed);
    EXPECT_EQ(denied.reason, LimitReason::Local);
    EXPECT_EQ(denied.retry_after, Wait{1s});
}

TEST_P(LimitServiceTest, TakesBackALeaseWhereItWasTaken) {
    const auto release = [&](LeaseId lease) {
        return await<bool>([&](auto done) { service_->release("k", "near", lease, std::move(done)); });
    };
    ASSERT_TRUE(book_.put({.name = "near",
                           .algorithm = "concurrency",
                           .capacity = 1,
                           .window = "PT1H",
                           .on_store_failure = "local"}));
    const LeaseId held = check("k", {"near"})->lease;
    break_store();
    const LeaseId local = check("k", {"near"})->lease;
    EXPECT_NE(local, LeaseId{});
    EXPECT_FALSE(check("k", {"near"})->allowed);

    EXPECT_EQ(release(held).error().kind, LimitErrorKind::Unavailable) << "the store has it";
    EXPECT_TRUE(release(local).value()) << "during the outage";
    const LeaseId again = check("k", {"near"})->lease;
    store_.before = {};

    EXPECT_TRUE(release(again).value()) << "after the outage";
    EXPECT_FALSE(release(again).value());
    EXPECT_EQ(left("k", "near"), 0) << "the place in the store is still its holder's";
    EXPECT_TRUE(release(held).value());
}

TEST_P(LimitServiceTest, GivesTokensBackWhereTheyWereTaken) {
    const Names near{"near"};
    const Names both{"gold", "near"};
    const auto refund = [&](const Names& plans, Tokens cost) {
        return await<std::monostate>([&](auto done) {
            service_->refund({"k", plans, cost}, std::move(done));
        });
    };
    ASSERT_EQ(reason("k", both), LimitReason::Ok);
    break_store();
    ASSERT_EQ(reason("k", both, 2), LimitReason::Local);

    EXPECT_TRUE(refund(both, 2)) << "during the outage";
    EXPECT_FALSE(refund(both, 1)) << "the store has it";
    ASSERT_EQ(reason("k", near, 2), LimitReason::Local);
    store_.before = {};

    EXPECT_TRUE(refund(near, 2)) << "after the outage";
    EXPECT_EQ(left("k", "near"), 1) << "the store has given nothing back yet";
    EXPECT_TRUE(refund(both, 1));
    EXPECT_EQ(left("k", "near"), 2);
    EXPECT_EQ(left("k", "gold"), 3);
}

TEST_P(LimitServiceTest, HeedsOverridesWhileTheStoreFails) {
    const PlanDraft more{.name = "", .algorithm = "", .capacity = 50};
    for (const char* name : {"gold", "strict", "near"}) {
        ASSERT_TRUE(await<Moment>([&](auto done) {
            service_->put_override({"k", name, more, Wait{1h}}, std::move(done));
        }));
    }
    break_store();

    EXPECT_EQ(check("k", {"gold"}, 40)->reason, LimitReason::FailOpen);
    EXPECT_EQ(check("k", {"strict"}, 40)->limit, 50);
    EXPECT_EQ(check("k", {"near"}, 40)->remaining, 10);
    EXPECT_EQ(error("other", {"gold"}, 40), LimitErrorKind::InvalidCost);
    clock_.advance(1h);
    EXPECT_EQ(error("k", {"gold"}, 40), LimitErrorKind::InvalidCost);
}

TEST_P(LimitServiceTest, OpensOnlyAsFarAsTheBudgetGoes) {
    options_.policy.open.tokens = 4;
    open();
    break_store();

    EXPECT_EQ(reason("a", {"gold"}, 3), LimitReason::FailOpen);
    EXPECT_EQ(reason("a", {"gold"}, 0), LimitReason::FailOpen);
    EXPECT_EQ(reason("b", {"gold"}, 2), LimitReason::FailClosed);
    EXPECT_EQ(reason("b", {"gold"}, 1), LimitReason::FailOpen);
    EXPECT_EQ(reason("c", {"gold"}, 1), LimitReason::FailClosed);
    EXPECT_EQ(reason("c", {"daily"}, 1), LimitReason::FailOpen);
}

TEST_P(LimitServiceTest, SpendsNoBudgetOnWhatAnotherPlanDenies) {
    options_.policy.open.tokens = 3;
    open();
    break_store();

    EXPECT_EQ(reason("a", {"gold", "strict"}, 3), LimitReason::FailClosed);
    EXPECT_EQ(reason("a", {"near"}, 2), LimitReason::Local);
    EXPECT_FALSE(check("a", {"gold", "near"}, 2)->allowed);

    EXPECT_EQ(reason("a", {"gold"}, 3), LimitReason::FailOpen);
}

TEST_P(LimitServiceTest, SurvivesAFaultAtEveryCall) {
    for (std::uint64_t n = 1; n <= 6; ++n) {
        open();
        store_.calls = 0;
        store_.before = [n](std::uint64_t call) {
            return call == n ? std::optional{LimitFault::Unavailable} : std::nullopt;
        };
        const std::string key = "k" + std::to_string(n);
        int allowed = 0;
        for (int i = 0; i < 6; ++i) {
            allowed += check(key, {"gold"})->allowed ? 1 : 0;
        }

        EXPECT_LE(allowed, 4) << "after a fault in call "
                              << n;  // What the store allows, and one in the dark.
        EXPECT_GE(allowed, 3);
    }
}

INSTANTIATE_TEST_SUITE_P(Calls, LimitServiceTest, ::testing::Values(StoreCalls::Direct, StoreCalls::Blocking),
                         [](const auto& calls) {
                             return std::string{calls.param == StoreCalls::Direct ? "Direct" : "Blocking"};
                         });

class BlockingLimitServiceTest : public LimitServiceTest {};

TEST_P(BlockingLimitServiceTest, AnswersByItsDeadlineWhenTheStoreHangs) {
    options_.deadline = 20ms;
    options_.batches.workers = 1;
    open();
    Gate gate;
    store_.before = [&](std::uint64_t) -> std::optional<LimitFault> {
        gate.pass();
        return std::nullopt;
    };

    EXPECT_EQ(reason("k", {"gold"}), LimitReason::FailOpen);
    EXPECT_EQ(reason("k", {"strict"}), LimitReason::FailClosed);

    EXPECT_EQ(metrics_.count(StoreFailure::Late), 2U);
    gate.await_arrival();
    gate.let_go();
    service_->stop();
    EXPECT_EQ(store_.calls, 1U);  // The second was over before its turn came, and was not charged.
}

// A store on two servers, of which one has the keys that begin with "slow".
class TwoServers final : public LimitStore {
public:
    explicit TwoServers(LimitStore& real) : real_{real} {}

    std::latch gate{1};  // Before the slow one.
    std::atomic<int> given_up = 0;

    [[nodiscard]] std::size_t lanes() const override { return 2; }
    [[nodiscard]] std::size_t lane(std::string_view key) override { return key.starts_with("slow") ? 1 : 0; }
    void gave_up_on(std::string_view key) override { given_up += key == "slow" ? 1 : 100; }
    void take(std::span<const Check> checks, std::span<CheckOutcome> outcomes) override {
        for (const Check& check : checks) {
            EXPECT_EQ(lane(check.key), lane(checks[0].key)) << "in one call";
        }
        if (lane(checks[0].key) == 1) {
            gate.wait();
        }
        real_.take(checks, outcomes);
    }
    CheckOutcome take_together(std::span<const Check> checks) override { return real_.take_together(checks); }
    Result<void, LimitFault> refund(const Check& check) override { return real_.refund(check); }
    Result<bool, LimitFault> release(std::string_view key, const Plan& plan, LeaseId lease) override {
        return real_.release(key, plan, lease);
    }
    Result<void, LimitFault> reset(std::string_view key, std::span<const Plan* const> plans) override {
        return real_.reset(key, plans);
    }
    Result<std::vector<Inspection>, LimitFault> inspect(std::string_view key,
                                                        std::span<const Plan* const> plans) override {
        return real_.inspect(key, plans);
    }
    Result<Moment, LimitFault> put_override(std::string_view key, const Plan& plan,
                                            const LimitOverride& replacement) override {
        return real_.put_override(key, plan, replacement);
    }

private:
    LimitStore& real_;
};

// In one call with a check that hangs, and behind others that hang.
TEST_P(BlockingLimitServiceTest, AnswersKeysOfAServerThatAnswersWhileAnotherHangs) {
    TwoServers servers{*memory_};
    options_.deadline = 200ms;
    service_.reset();
    LimitService service{options_, LimitServiceWorld{servers, *local_, book_, metrics_, servers_, *runtime_}};
    const Names gold{"gold"};
    const auto check_both = [&] {
        std::promise<std::vector<LimitReply>> promise;
        const std::array<LimitQuestion, 3> questions{
            LimitQuestion{"slow", gold, 1}, {"quick", gold, 1}, {"slow", gold, 1}};
        service.check_each(questions,
                           [&](std::vector<LimitReply> replies) { promise.set_value(std::move(replies)); });
        return promise.get_future().get();
    };

    for (const LimitReason reason :
         {LimitReason::Ok, LimitReason::Ok, LimitReason::Ok, LimitReason::Denied}) {
        const auto replies = check_both();
        EXPECT_EQ(replies[0]->reason, LimitReason::FailOpen);
        EXPECT_EQ(replies[1]->reason, reason) << "three are all that gold has";
        EXPECT_EQ(replies[2]->reason, LimitReason::FailOpen);
    }
    servers.gate.count_down();
    service.stop();
    EXPECT_EQ(servers.given_up, 4) << "the store hears of each errand that nobody waits for any more";
}

TEST_P(BlockingLimitServiceTest, AsksForManyChecksAtOnce) {
    options_.batches.workers = 1;
    open();
    Gate gate;
    store_.before = [&](std::uint64_t call) -> std::optional<LimitFault> {
        if (call == 1) {
            gate.pass();
        }
        return std::nullopt;
    };
    const Names daily{"daily"};
    std::vector<std::future<LimitReply>> replies;
    const auto send = [&](std::string_view key) {
        auto promise = std::make_shared<std::promise<LimitReply>>();
        replies.push_back(promise->get_future());
        service_->check({key, daily, 1},
                        [promise](LimitReply reply) { promise->set_value(std::move(reply)); });
    };

    send("first");
    gate.await_arrival();
    for (int i = 0; i < 12; ++i) {
        send("shared");
    }
    gate.let_go();

    int allowed = 0;
    for (auto& reply : replies) {
        allowed += reply.get()->allowed ? 1 : 0;
    }
    EXPECT_EQ(allowed, 11);  // One of the first key, and the ten that a day has.
    EXPECT_EQ(store_.calls, 2U);
}

TEST_P(BlockingLimitServiceTest, RefusesQueriesWhenTheStoreFails) {
    break_store();
    const Names gold{"gold"};

    const auto given = await<std::monostate>([&](auto done) {
        service_->refund({"k", gold, 1}, std::move(done));
    });

    EXPECT_EQ(given.error().kind, LimitErrorKind::Unavailable);
}

INSTANTIATE_TEST_SUITE_P(Calls, BlockingLimitServiceTest, ::testing::Values(StoreCalls::Blocking));

}  // namespace
}  // namespace sluice::test
