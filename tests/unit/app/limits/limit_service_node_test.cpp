// A service over a store that blocks, with what its node remembers.
#include <optional>

#include "app/limits/limit_service.hpp"
#include "support/node_under_test.hpp"
#include "support/recording_log.hpp"
#include "support/virtual_runtime.hpp"

namespace sluice::test {
namespace {

using Done = Result<std::monostate, LimitError>;

class LimitServiceNode : public NodeUnderTest {
protected:
    LimitServiceNode() {
        service_options_.calls = StoreCalls::Blocking;
        service_options_.deadline = 5s;  // Long: tests that need it short set it.
        service_options_.node = options_;
        service_options_.node.blocks.lease_time = 1h;
        start();
    }

    void start() {
        service_.reset();
        service_ = std::make_unique<LimitService>(
            service_options_, LimitServiceWorld{store_, *local_, book_, metrics_, servers_, runtime_});
    }
    // What a call completes with.
    template <class T, class Start>
    T awaited(Start start) {
        std::optional<T> answer;
        start([&](T result) { answer = std::move(result); });
        runtime_.wait([&] { return answer.has_value(); });
        return *std::move(answer);
    }
    LimitReply reply(std::string_view plan, Tokens cost = 1) {
        const Names names{plan};
        return awaited<LimitReply>([&](auto done) { service_->check({"k", names, cost}, std::move(done)); });
    }
    LimitAnswer check(std::string_view plan, Tokens cost = 1) { return reply(plan, cost).value(); }

    std::unique_ptr<MemoryLimitStore> local_ = make_memory_limit_store({.keys_max = 100, .seed = 8}, clock_);
    RecordingLog log_;
    LimitServers servers_{log_, metrics_};
    VirtualRuntime runtime_{1, clock_};
    LimitServiceOptions service_options_;
    std::unique_ptr<LimitService> service_;
};

TEST_F(LimitServiceNode, AnswersWhatItKnowsBeforeTheCallReturns) {
    ASSERT_TRUE(check("gold", 3).allowed);
    ASSERT_FALSE(check("gold").allowed);
    clock_.advance(400ms);
    const Names gold{"gold"};
    std::vector<LimitReply> replies;

    const auto calls = calls_of([&] {
        service_->check_each(std::vector<LimitQuestion>{{"k", gold, 1}, {"", gold, 1}, {"k", gold, 2}},
                             [&](std::vector<LimitReply> all) { replies = std::move(all); });
    });

    EXPECT_EQ(calls, 0U);
    ASSERT_EQ(replies.size(), 3U);
    EXPECT_EQ(replies[0]->reason, LimitReason::Denied);
    EXPECT_EQ(replies[0]->plan->plan.name(), "gold");
    EXPECT_EQ(replies[0]->retry_after, 600ms);
    EXPECT_EQ(replies[1].error().kind, LimitErrorKind::InvalidKey);
    EXPECT_EQ(replies[2]->reason, LimitReason::Denied);
    EXPECT_EQ(metrics_.count(LimitReason::Denied), 3U);
}

TEST_F(LimitServiceNode, AsksTheStoreForTheRestOfABatchInItsPlaces) {
    ASSERT_TRUE(check("gold", 3).allowed);
    ASSERT_FALSE(check("gold").allowed);
    const Names gold{"gold"};

    const auto replies = awaited<std::vector<LimitReply>>([&](auto done) {
        service_->check_each(
            std::vector<LimitQuestion>{{"k", gold, 1}, {"a", gold, 1}, {"k", gold, 1}, {"b", gold, 2}},
            std::move(done));
    });

    EXPECT_FALSE(replies[0]->allowed);
    EXPECT_EQ(replies[1]->remaining, 2);
    EXPECT_FALSE(replies[2]->allowed);
    EXPECT_EQ(replies[3]->remaining, 1);
}

TEST_F(LimitServiceNode, HeedsAnOverrideThatItSawWhileTheStoreFails) {
    const auto gold = plans({"gold"});
    ASSERT_TRUE(memory_->put_override("k", *gold.front(), {bucket(50, 1, 1h), Wait{1h}}));
    ASSERT_EQ(check("gold", 40).remaining, 10);

    break_store();

    EXPECT_EQ(check("gold", 40).reason, LimitReason::FailOpen);
    clock_.advance(FailPolicy::kBelieved);
    EXPECT_EQ(reply("gold", 40).error().kind, LimitErrorKind::InvalidCost);
}

TEST_F(LimitServiceNode, ForgetsDenialsWhenItGivesBackAndWhenPlansChange) {
    const Names gold{"gold"};
    ASSERT_TRUE(check("gold", 3).allowed);

    ASSERT_FALSE(check("gold").allowed);
    EXPECT_TRUE(awaited<Done>([&](auto done) { service_->refund({"k", gold, 1}, std::move(done)); }));
    EXPECT_TRUE(check("gold").allowed);

    clock_.advance(1us);
    ASSERT_FALSE(check("gold").allowed);
    EXPECT_TRUE(awaited<Done>([&](auto done) { service_->reset("k", gold, std::move(done)); }));
    EXPECT_TRUE(check("gold", 3).allowed);

    clock_.advance(1us);
    ASSERT_FALSE(check("gold").allowed);
    EXPECT_TRUE((awaited<Result<Moment, LimitError>>([&](auto done) {
        service_->put_override({"k", "gold", {.name = "", .algorithm = "", .capacity = 9}, kMidnight + 1h},
                               std::move(done));
    })));
    EXPECT_TRUE(check("gold", 9).allowed);

    clock_.advance(1us);
    ASSERT_FALSE(check("gold").allowed);
    ASSERT_TRUE(book_.put({.name = "gold", .algorithm = "fixed_window", .capacity = 1, .window = "PT1H"}));
    EXPECT_EQ(calls_of([&] { check("gold"); }), 1U);
}

TEST_F(LimitServiceNode, RemembersNothingThatPlansAnsweredInTheStoresPlace) {
    ASSERT_TRUE(book_.put({.name = "strict",
                           .algorithm = "token_bucket",
                           .capacity = 3,
                           .refill = "1/s",
                           .on_store_failure = "closed"}));
    break_store();
    EXPECT_EQ(check("strict").reason, LimitReason::FailClosed);
    store_.before = {};

    EXPECT_EQ(check("strict").reason, LimitReason::Ok);
}

TEST_F(LimitServiceNode, ServesItsBlocksWhileTheStoreIsDown) {
    ASSERT_TRUE(check("block").allowed);
    break_store();

    const LimitAnswer served = check("block", 4);

    EXPECT_EQ(served.reason, LimitReason::Ok);
    EXPECT_EQ(served.remaining, 15);
    EXPECT_EQ(check("block").reason, LimitReason::FailOpen);
}

TEST_F(LimitServiceNode, KeepsABlockWhoseCheckWasAnsweredByItsDeadline) {
    service_options_.deadline = 20ms;
    start();
    store_.before = [&](std::uint64_t call) -> std::optional<LimitFault> {
        if (call == 1) {
            runtime_.sleep(21ms);
        }
        return std::nullopt;
    };
    EXPECT_EQ(check("block").reason, LimitReason::FailOpen);
    runtime_.wait([&] { return metrics_.store_calls == 1U; });

    EXPECT_EQ(calls_of([&] { EXPECT_EQ(check("block", 4).reason, LimitReason::Ok); }), 0U);
}

TEST_F(LimitServiceNode, GivesItsBlocksBackWhenItStops) {
    ASSERT_TRUE(check("block").allowed);
    ASSERT_EQ(in_store("k", "block"), 15);

    service_->stop();

    EXPECT_EQ(in_store("k", "block"), 19);
}

TEST_F(LimitServiceNode, GivesItsBlocksBackWhenTheyEnd) {
    service_options_.node.blocks.lease_time = 20ms;
    start();
    ASSERT_TRUE(check("block").allowed);

    runtime_.wait([&] { return in_store("k", "block") == 19; });

    EXPECT_LE(clock_.now(), kMidnight + 20ms);
}

TEST_F(LimitServiceNode, TakesNoBlocksFromAStoreInMemory) {
    service_options_.calls = StoreCalls::Direct;
    start();

    EXPECT_TRUE(check("block").allowed);

    EXPECT_EQ(in_store("k", "block"), 19);
}

}  // namespace
}  // namespace sluice::test
