#include "app/limits/token_blocks.hpp"

#include <thread>

#include "support/node_under_test.hpp"

namespace sluice::test {
namespace {

using BlocksOfNode = NodeUnderTest;

TEST_F(BlocksOfNode, ServeChecksThatTheStoreIsNotAskedFor) {
    EXPECT_TRUE(allowed("k", {"block"}));
    EXPECT_EQ(in_store("k", "block"), 15);

    EXPECT_EQ(calls_of([&] {
                  EXPECT_TRUE(allowed("k", {"block"}, 3));
                  EXPECT_TRUE(allowed("k", {"block"}));
              }),
              0U);
    EXPECT_EQ(metrics_.count(StoreSpared::Block), 2U);
    EXPECT_EQ(calls_of([&] { EXPECT_TRUE(allowed("k", {"block"})); }), 1U);
    EXPECT_EQ(in_store("k", "block"), 10);
}

TEST_F(BlocksOfNode, TellWhatTheyAndTheStoreHaveLeft) {
    const Verdict first = ask("k", {"block"}).value();
    EXPECT_EQ(first.limit, 20);
    EXPECT_EQ(first.remaining, 19);
    EXPECT_EQ(first.reset_after, 5s);
    clock_.advance(1s);

    const Verdict second = ask("k", {"block"}, 2).value();

    EXPECT_EQ(second.remaining, 17);
    EXPECT_EQ(second.reset_after, 4s);
    EXPECT_EQ(second.limit, 20);
}

TEST_F(BlocksOfNode, AreNotTakenForWhatIsDearer) {
    EXPECT_TRUE(allowed("k", {"block"}, 6));

    EXPECT_EQ(in_store("k", "block"), 14);
}

TEST_F(BlocksOfNode, AreUsedUpBeforeTheNext) {
    EXPECT_TRUE(allowed("k", {"block"}, 4));
    EXPECT_TRUE(allowed("k", {"block"}, 3));  // One of the first block, two of the second.

    EXPECT_EQ(in_store("k", "block"), 10);
    EXPECT_EQ(calls_of([&] { EXPECT_TRUE(allowed("k", {"block"}, 3)); }), 0U);
    EXPECT_EQ(calls_of([&] { EXPECT_TRUE(allowed("k", {"block"})); }), 1U);
}

TEST_F(BlocksOfNode, AreNotForPeeksChainsShadowModeAndChecksTogether) {
    ASSERT_TRUE(allowed("k", {"block"}));
    const auto one = plans({"block"});
    const Check check{"k", one, 1};

    EXPECT_EQ(calls_of([&] { EXPECT_EQ(ask("k", {"block"}, 0)->remaining, 15); }), 1U);
    EXPECT_EQ(calls_of([&] { EXPECT_EQ(ask("k", {"block", "daily"})->remaining, 9); }), 1U);
    EXPECT_EQ(calls_of([&] { EXPECT_TRUE(node_->take_together({&check, 1})->allowed); }), 1U);
    EXPECT_EQ(in_store("k", "block"), 13);
    EXPECT_FALSE(ask("k", {"tried"})->shadowed);
    EXPECT_EQ(in_store("k", "tried"), 1);
    EXPECT_TRUE(ask("k", {"tried"}, 2)->shadowed);
}

TEST_F(BlocksOfNode, GiveWayToTheExactCostWhenTheStoreHasTooLittle) {
    ASSERT_TRUE(allowed("k", {"block"}, 17));

    EXPECT_EQ(calls_of([&] { EXPECT_EQ(ask("k", {"block"}, 2)->remaining, 1); }), 2U);
    EXPECT_EQ(calls_of([&] { EXPECT_EQ(ask("k", {"block"}, 1)->remaining, 0); }), 1U) << "no second try";

    const Verdict denied = ask("k", {"block"}, 2).value();
    EXPECT_FALSE(denied.allowed);
    EXPECT_EQ(denied.retry_after, 2s);
}

TEST_F(BlocksOfNode, AreTriedAgainWhenTheyCouldPass) {
    options_.blocks.lease_time = 1min;
    open();
    ASSERT_TRUE(allowed("k", {"block"}, 17));
    ASSERT_TRUE(allowed("k", {"block"}, 1));  // A block of five could pass two seconds from now.
    ASSERT_EQ(in_store("k", "block"), 2);

    clock_.advance(1'999'999us);
    ASSERT_TRUE(allowed("k", {"block"}, 1));
    EXPECT_EQ(in_store("k", "block"), 2);
    clock_.advance(3s);
    ASSERT_TRUE(allowed("k", {"block"}, 1));
    EXPECT_EQ(in_store("k", "block"), 0);
}

TEST_F(BlocksOfNode, OfAnOverriddenKeyAreNoLargerThanItsLimit) {
    put_override("k", "block", bucket(3, 1, 1h));

    EXPECT_EQ(ask("k", {"block"}, 2)->remaining, 1);
    EXPECT_FALSE(allowed("k", {"block"}, 2));
    EXPECT_EQ(ask("k", {"block"}, 5).error(), LimitFault::InvalidCost);
}

TEST_F(BlocksOfNode, AreServedWhileTheStoreFails) {
    ASSERT_TRUE(allowed("k", {"block"}));
    break_store();

    EXPECT_TRUE(allowed("k", {"block"}, 4));
    EXPECT_EQ(ask("k", {"block"}).error(), LimitFault::Unavailable);

    store_.before = {};
    EXPECT_TRUE(allowed("k", {"block"}));
    EXPECT_EQ(in_store("k", "block"), 10);
}

TEST_F(BlocksOfNode, GoBackToTheStoreWhenTheyEnd) {
    ASSERT_TRUE(allowed("k", {"block"}, 2));
    clock_.advance(999ms);
    node_->give_back_ended(0ms);
    EXPECT_EQ(in_store("k", "block"), 15);

    node_->give_back_ended(1ms);

    EXPECT_EQ(in_store("k", "block"), 18);
    EXPECT_EQ(calls_of([&] { EXPECT_TRUE(allowed("k", {"block"})); }), 1U);
    EXPECT_EQ(in_store("k", "block"), 13);
}

TEST_F(BlocksOfNode, AllGoBackAtTheEnd) {
    ASSERT_TRUE(allowed("a", {"block"}, 2));
    ASSERT_TRUE(allowed("b", {"block"}, 4));

    node_->give_back_all();

    EXPECT_EQ(in_store("a", "block"), 18);
    EXPECT_EQ(in_store("b", "block"), 16);
}

TEST_F(BlocksOfNode, ThatGoBackLetADeniedCheckPass) {
    ASSERT_TRUE(allowed("k", {"block"}, 1));
    const auto one = plans({"block"});
    ASSERT_TRUE(memory_->reset("k", one));
    const Check all{"k", one, 20};
    CheckOutcome outcome = Unexpected{LimitFault::Unavailable};
    memory_->take({&all, 1}, {&outcome, 1});  // By another node.
    ASSERT_FALSE(allowed("k", {"block", "daily"}, 3));
    clock_.advance(1us);

    node_->give_back_all();

    EXPECT_TRUE(allowed("k", {"block", "daily"}, 3));
}

TEST_F(BlocksOfNode, AreGivenUpWhenTheStoreDoesNotAnswer) {
    ASSERT_TRUE(allowed("a", {"block"}));
    ASSERT_TRUE(allowed("b", {"block"}));
    clock_.advance(1s);
    break_store();

    EXPECT_EQ(calls_of([&] { node_->give_back_ended(0s); }), 1U);

    store_.before = {};
    EXPECT_EQ(ask("a", {"block"})->remaining, 15);  // Exact: what was given back may come back yet.
    clock_.advance(1s);
    EXPECT_EQ(ask("a", {"block"})->remaining, 15);
    EXPECT_EQ(in_store("a", "block"), 11);  // A block again.
}

TEST_F(BlocksOfNode, AreGivenUpWhenTheStoreTakesTooLong) {
    for (const char* key : {"a", "b", "c", "d"}) {
        ASSERT_TRUE(allowed(key, {"block"}));
    }
    store_.before = [&](std::uint64_t) -> std::optional<LimitFault> {
        clock_.advance(1s);
        return std::nullopt;
    };

    EXPECT_EQ(calls_of([&] { node_->give_back_all(); }), 2U);
}

TEST_F(BlocksOfNode, AreNeitherServedNorGivenBackUnderAnotherPlan) {
    ASSERT_TRUE(allowed("a", {"block"}));
    ASSERT_TRUE(allowed("b", {"block"}));
    const Tokens before = in_store("b", "block");

    ASSERT_TRUE(book_.put(
        {.name = "block", .algorithm = "token_bucket", .capacity = 20, .refill = "1/s", .lease = 2}));

    EXPECT_EQ(calls_of([&] { EXPECT_TRUE(allowed("a", {"block"})); }), 1U);
    EXPECT_EQ(in_store("a", "block"), 13);
    EXPECT_EQ(calls_of([&] { node_->give_back_all(); }), 1U);  // Of "a" alone.
    EXPECT_EQ(in_store("b", "block"), before);
}

TEST_F(BlocksOfNode, AreDroppedByResetAndOverrideAndKeptByRefund) {
    ASSERT_TRUE(allowed("k", {"block"}, 2));
    const auto one = plans({"block"});
    ASSERT_TRUE(node_->refund({"k", one, 2}));
    EXPECT_EQ(in_store("k", "block"), 17);
    EXPECT_EQ(calls_of([&] { EXPECT_TRUE(allowed("k", {"block"})); }), 0U);

    reset("k", "block");
    EXPECT_EQ(calls_of([&] { EXPECT_TRUE(allowed("k", {"block"})); }), 1U);
    EXPECT_EQ(in_store("k", "block"), 15);

    put_override("k", "block", bucket(50, 1, 1h));
    EXPECT_EQ(calls_of([&] { EXPECT_TRUE(allowed("k", {"block"})); }), 1U);
    EXPECT_EQ(in_store("k", "block"), 45);
}

TEST_F(BlocksOfNode, OnTheirWayAreDroppedByAReset) {
    store_.after_take = [&] {
        store_.after_take = {};
        reset("k", "block");
    };
    ASSERT_TRUE(allowed("k", {"block"}));

    EXPECT_EQ(calls_of([&] { EXPECT_TRUE(allowed("k", {"block"})); }), 1U);
}

TEST_F(BlocksOfNode, AreTakenOnceByChecksAtTheSameTime) {
    store_.before = [&](std::uint64_t call) -> std::optional<LimitFault> {
        if (call == 1) {
            EXPECT_EQ(ask("k", {"block"})->remaining, 19) << "the exact cost";
        }
        return std::nullopt;
    };
    ASSERT_TRUE(allowed("k", {"block"}));

    EXPECT_EQ(store_.calls, 2U);
    EXPECT_EQ(in_store("k", "block"), 14);
}

TEST_F(BlocksOfNode, AreNotTakenWhileOneGoesBack) {
    ASSERT_TRUE(allowed("k", {"block"}));
    clock_.advance(1s);
    store_.before = [&](std::uint64_t call) -> std::optional<LimitFault> {
        if (call == 2) {
            EXPECT_EQ(ask("k", {"block"})->remaining, 15) << "the exact cost";
        }
        return std::nullopt;
    };

    node_->give_back_ended(0s);

    EXPECT_EQ(in_store("k", "block"), 19);
    EXPECT_TRUE(allowed("k", {"block"}));
    EXPECT_EQ(in_store("k", "block"), 14);
}

TEST_F(BlocksOfNode, ServeAWholeBatch) {
    const auto one = plans({"block"});
    const auto other = plans({"gold"});
    const std::vector<Check> checks{
        {"k", one, 1}, {"k", one, 1}, {"g", other, 1}, {"k", one, 2}, {"k", one, 3}};
    std::vector<CheckOutcome> outcomes(checks.size(), Unexpected{LimitFault::Unavailable});

    node_->take(checks, outcomes);

    for (const CheckOutcome& outcome : outcomes) {
        EXPECT_TRUE(outcome->allowed);
    }
    EXPECT_EQ(store_.checks_taken, 3U);  // A block, the other plan, and what the block had no room for.
    EXPECT_EQ(store_.calls, 2U);
    EXPECT_EQ(in_store("k", "block"), 12);
}

TEST_F(BlocksOfNode, AreOfABoundedNumber) {
    options_.blocks.blocks_max = 16;
    open();
    int blocks = 0;
    for (int i = 0; i < 100; ++i) {
        const std::string key = "k" + std::to_string(i);
        ASSERT_TRUE(allowed(key, {"block"}));
        blocks += in_store(key, "block") == 15 ? 1 : 0;
    }

    EXPECT_GT(blocks, 0);
    EXPECT_LE(blocks, 16);
    clock_.advance(1s);
    node_->give_back_ended(0s);
    node_->give_back_ended(0s);  // Forgets what has gone back.
    EXPECT_TRUE(allowed("new", {"block"}));
    EXPECT_EQ(in_store("new", "block"), 15);
}

TEST_F(BlocksOfNode, LoseAndMakeNoTokenAmongThreads) {
    constexpr Tokens kCapacity = 5'000;
    ASSERT_TRUE(book_.put(
        {.name = "wide", .algorithm = "token_bucket", .capacity = kCapacity, .refill = "1/d", .lease = 7}));
    const auto wide = plans({"wide"});
    std::atomic<Tokens> admitted = 0;
    const auto work = [&](Tokens cost) {
        const Check check{"k", wide, cost};
        for (int i = 0; i < 600; ++i) {
            CheckOutcome outcome = Unexpected{LimitFault::Unavailable};
            if (const auto known = node_->known(check)) {
                outcome = *known;
            } else {
                node_->take({&check, 1}, {&outcome, 1});
            }
            admitted += outcome->allowed ? cost : 0;
            if (i % 50 == 0) {
                node_->give_back_ended(1h);
            }
        }
    };
    {
        std::vector<std::jthread> threads;
        for (const Tokens cost : {1, 2, 3, 5}) {
            threads.emplace_back(work, cost);
        }
    }

    node_->give_back_all();

    EXPECT_EQ(admitted + in_store("k", "wide"), kCapacity);
    EXPECT_GT(metrics_.count(StoreSpared::Block), 0U);
}

}  // namespace
}  // namespace sluice::test
