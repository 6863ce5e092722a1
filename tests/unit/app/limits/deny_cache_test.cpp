#include "app/limits/deny_cache.hpp"

#include "support/node_under_test.hpp"

namespace sluice::test {
namespace {

using DenyCacheOfNode = NodeUnderTest;

TEST_F(DenyCacheOfNode, AnswersWithoutTheStoreUntilTheDenialEnds) {
    ASSERT_TRUE(allowed("k", {"gold"}, 3));
    ASSERT_FALSE(allowed("k", {"gold"}));
    clock_.advance(400ms);

    const auto calls = calls_of([&] {
        const Verdict denied = ask("k", {"gold"}).value();
        EXPECT_FALSE(denied.allowed);
        EXPECT_EQ(denied.limit, 3);
        EXPECT_EQ(denied.retry_after, 600ms);
        EXPECT_EQ(denied.reset_after, 2'600ms);
    });

    EXPECT_EQ(calls, 0U);
    EXPECT_EQ(metrics_.count(StoreSpared::Denial), 1U);
    clock_.advance(599'999us);
    EXPECT_EQ(ask("k", {"gold"})->retry_after, 1us);
    clock_.advance(1us);
    EXPECT_TRUE(allowed("k", {"gold"}));
}

TEST_F(DenyCacheOfNode, IsOffUnlessAskedFor) {
    options_.denials = {};
    open();
    ASSERT_TRUE(allowed("k", {"gold"}, 3));

    EXPECT_EQ(calls_of([&] {
                  EXPECT_FALSE(allowed("k", {"gold"}));
                  EXPECT_FALSE(allowed("k", {"gold"}));
              }),
              2U);
}

TEST_F(DenyCacheOfNode, DeniesWhatIsDearerAndAsksForWhatIsCheaper) {
    ASSERT_TRUE(allowed("k", {"gold"}, 2));
    ASSERT_FALSE(allowed("k", {"gold"}, 2));

    EXPECT_EQ(calls_of([&] { EXPECT_FALSE(allowed("k", {"gold"}, 3)); }), 0U);
    EXPECT_EQ(calls_of([&] { EXPECT_TRUE(allowed("k", {"gold"}, 1)); }), 1U);
}

TEST_F(DenyCacheOfNode, TellsTheLongestWaitThatItKnows) {
    ASSERT_TRUE(allowed("k", {"gold"}, 3));
    ASSERT_FALSE(allowed("k", {"gold"}, 3));
    ASSERT_FALSE(allowed("k", {"gold"}, 1));

    EXPECT_EQ(calls_of([&] {
                  EXPECT_EQ(ask("k", {"gold"}, 3)->retry_after, 3s);
                  EXPECT_EQ(ask("k", {"gold"}, 2)->retry_after, 1s);
              }),
              0U);
}

TEST_F(DenyCacheOfNode, LeavesRefusalsToTheStore) {
    ASSERT_TRUE(allowed("k", {"gold"}, 3));
    ASSERT_FALSE(allowed("k", {"gold"}));

    EXPECT_EQ(ask("k", {"gold"}, 4).error(), LimitFault::InvalidCost);

    ASSERT_TRUE(allowed("d", {"daily"}, 10));
    ASSERT_FALSE(allowed("d", {"gold", "daily"}));  // By daily, which could allow four.
    EXPECT_EQ(ask("d", {"gold", "daily"}, 4).error(), LimitFault::InvalidCost);
}

TEST_F(DenyCacheOfNode, BelievesNoDenialForLongerThanItIsTold) {
    ASSERT_TRUE(allowed("k", {"daily"}, 10));
    ASSERT_FALSE(allowed("k", {"daily"}));
    clock_.advance(9'999'999us);
    EXPECT_EQ(calls_of([&] { EXPECT_EQ(ask("k", {"daily"})->retry_after, 24h - 9'999'999us); }), 0U);

    clock_.advance(1us);

    EXPECT_EQ(calls_of([&] { EXPECT_FALSE(allowed("k", {"daily"})); }), 1U);
}

TEST_F(DenyCacheOfNode, CountsFromBeforeTheStoreWasAsked) {
    ASSERT_TRUE(allowed("k", {"gold"}, 3));
    store_.after_take = [&] { clock_.advance(300ms); };  // The answer is long on its way.
    ASSERT_FALSE(allowed("k", {"gold"}));
    store_.after_take = {};

    EXPECT_EQ(ask("k", {"gold"})->retry_after, 700ms);
    clock_.advance(700ms);
    EXPECT_TRUE(allowed("k", {"gold"}));
}

TEST_F(DenyCacheOfNode, KnowsOnlyTheSameKeyUnderTheSamePlans) {
    ASSERT_TRUE(allowed("k", {"gold"}, 3));
    ASSERT_FALSE(allowed("k", {"gold", "daily"}));

    EXPECT_EQ(calls_of([&] { EXPECT_FALSE(allowed("k", {"gold", "daily"})); }), 0U);
    EXPECT_EQ(calls_of([&] { EXPECT_FALSE(allowed("k", {"gold"})); }), 1U);
    EXPECT_EQ(calls_of([&] { EXPECT_TRUE(allowed("k", {"daily"})); }), 1U);
    EXPECT_EQ(calls_of([&] { EXPECT_TRUE(allowed("other", {"gold", "daily"})); }), 1U);
    EXPECT_EQ(ask("k", {"gold", "daily"})->plan, 0U);
}

TEST_F(DenyCacheOfNode, RemembersNoPeeksNoLeasesAndNothingThatWasAllowed) {
    ASSERT_TRUE(allowed("k", {"gold"}, 3));
    ASSERT_TRUE(allowed("k", {"places"}));
    ASSERT_TRUE(allowed("k", {"tried"}, 2));
    for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(calls_of([&] { EXPECT_FALSE(allowed("k", {"gold"}, 0)); }), 1U);
        EXPECT_EQ(calls_of([&] { EXPECT_FALSE(allowed("k", {"places"})); }), 1U);
        EXPECT_EQ(calls_of([&] { EXPECT_TRUE(ask("k", {"tried"})->shadowed); }), 1U);
    }

    ASSERT_FALSE(allowed("k", {"gold"}));
    EXPECT_EQ(calls_of([&] { EXPECT_FALSE(allowed("k", {"gold"}, 0)); }), 1U) << "a peek was answered";
}

TEST_F(DenyCacheOfNode, LearnsNothingFromChecksTogetherAndFromFaults) {
    ASSERT_TRUE(allowed("k", {"gold"}, 3));
    const auto gold = plans({"gold"});
    const Check check{"k", gold, 1};
    EXPECT_FALSE(node_->take_together({&check, 1})->allowed);
    break_store();
    EXPECT_EQ(ask("k", {"gold"}).error(), LimitFault::Unavailable);
    store_.before = {};

    EXPECT_EQ(calls_of([&] { EXPECT_FALSE(allowed("k", {"gold"})); }), 1U);
}

TEST_F(DenyCacheOfNode, ForgetsWhenAPlanChanges) {
    ASSERT_TRUE(allowed("k", {"gold"}, 3));
    ASSERT_FALSE(allowed("k", {"gold"}));

    ASSERT_TRUE(book_.put({.name = "gold", .algorithm = "token_bucket", .capacity = 3, .refill = "2/s"}));

    EXPECT_EQ(calls_of([&] { EXPECT_FALSE(allowed("k", {"gold"})); }), 1U);
    clock_.advance(500ms);
    EXPECT_TRUE(allowed("k", {"gold"}));
}

TEST_F(DenyCacheOfNode, ForgetsAKeyThatIsGivenSomethingBack) {
    ASSERT_TRUE(allowed("k", {"gold"}, 3));
    const auto gold = plans({"gold"});

    ASSERT_FALSE(allowed("k", {"gold"}));
    ASSERT_TRUE(node_->refund({"k", gold, 1}));
    EXPECT_TRUE(allowed("k", {"gold"}));

    ASSERT_FALSE(allowed("k", {"gold"}));
    clock_.advance(1us);
    reset("k", "gold");
    EXPECT_TRUE(allowed("k", {"gold"}, 3));

    clock_.advance(1us);
    ASSERT_FALSE(allowed("k", {"gold"}));
    put_override("k", "gold", bucket(9, 1, 1s));
    EXPECT_TRUE(allowed("k", {"gold"}));

    clock_.advance(1us);
    ASSERT_TRUE(allowed("other", {"gold"}, 3));
    ASSERT_FALSE(allowed("other", {"gold"}));
    EXPECT_EQ(calls_of([&] { EXPECT_FALSE(allowed("other", {"gold"})); }), 0U);
    ASSERT_TRUE(node_->release("other", *plans({"places"}).front(), LeaseId{1}));
    EXPECT_EQ(calls_of([&] { EXPECT_FALSE(allowed("other", {"gold"})); }), 1U);
}

TEST_F(DenyCacheOfNode, ForgetsEvenWhenItIsNotKnownWhetherSomethingWasGivenBack) {
    ASSERT_TRUE(allowed("k", {"gold"}, 3));
    ASSERT_FALSE(allowed("k", {"gold"}));
    break_store();
    EXPECT_FALSE(node_->reset("k", plans({"gold"})));
    store_.before = {};

    EXPECT_EQ(calls_of([&] { EXPECT_FALSE(allowed("k", {"gold"})); }), 1U);
}

TEST_F(DenyCacheOfNode, DoesNotLearnADenialThatAResetOvertakes) {
    ASSERT_TRUE(allowed("k", {"gold"}, 3));
    store_.after_take = [&] { reset("k", "gold"); };  // Decided, but not heard of yet.
    ASSERT_FALSE(allowed("k", {"gold"}));
    store_.after_take = {};

    EXPECT_TRUE(allowed("k", {"gold"}));
}

TEST_F(DenyCacheOfNode, HoldsNoMoreThanItMay) {
    options_.denials.keys_max = 256;
    open();
    constexpr int kKeys = 4'000;
    for (int i = 0; i < kKeys; ++i) {
        const std::string key = "k" + std::to_string(i);
        ASSERT_TRUE(allowed(key, {"gold"}, 3));
        ASSERT_FALSE(allowed(key, {"gold"}));
    }

    const auto calls = calls_of([&] {
        for (int i = kKeys - 1; i >= 0; --i) {
            node_->known({"k" + std::to_string(i), plans({"gold"}), 1});
        }
    });

    EXPECT_EQ(calls, 0U);
    EXPECT_LE(metrics_.count(StoreSpared::Denial), 256U);
    EXPECT_GE(metrics_.count(StoreSpared::Denial), 100U);  // Nor far less.
    EXPECT_EQ(calls_of([&] { EXPECT_FALSE(allowed("k3999", {"gold"})); }), 0U) << "the newest stays";
}

TEST(DenyCache, RoundsTheWaitUp) {
    DenyCache cache{{.longest = 10s}};
    const Plan gold = plan("gold", bucket(3, 1, 1s));
    const Plan* const plans = &gold;
    const Check check{"k", {&plans, 1}, 1};
    const SteadyTime asked{1h};
    cache.learn(check, {.allowed = false, .limit = 3, .retry_after = 1s, .reset_after = 1s}, asked);

    EXPECT_EQ(cache.find(check, asked + 1ns)->retry_after, 1s);
    EXPECT_EQ(cache.find(check, asked + 1s - 1ns)->retry_after, 1us);
    EXPECT_FALSE(cache.find(check, asked + 1s));
}

}  // namespace
}  // namespace sluice::test
