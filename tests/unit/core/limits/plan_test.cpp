#include "core/limits/plan.hpp"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/limit_words.hpp"

namespace sluice::test {
namespace {

using testing::HasSubstr;

PlanDraft gold() { return {.name = "gold", .algorithm = "token_bucket", .capacity = 10, .refill = "1/s"}; }

std::string refusal(const PlanDraft& draft) {
    const auto plan = make_plan(draft);
    return plan ? "accepted" : plan.error().what;
}

TEST(Plan, IsReadFromWhatAnAdministratorWrites) {
    PlanDraft draft = gold();
    draft.on_store_failure = "closed";
    draft.shadow = true;

    const Plan plan = good(make_plan(draft));

    EXPECT_EQ(plan.name(), "gold");
    EXPECT_EQ(plan.algorithm(), "token_bucket");
    EXPECT_EQ(plan.limit(), 10);
    EXPECT_EQ(plan.traits().on_store_failure, OnStoreFailure::Closed);
    EXPECT_TRUE(plan.traits().shadow);
}

TEST(Plan, KnowsEveryAlgorithmByItsName) {
    const std::vector<PlanDraft> drafts{
        gold(),
        {.name = "a", .algorithm = "fixed_window", .capacity = 5, .window = "PT1H"},
        {.name = "b", .algorithm = "fixed_window", .capacity = 5, .window = "PT1H", .start = "first_hit"},
        {.name = "c", .algorithm = "fixed_window", .capacity = 5, .window = "month"},
        {.name = "d", .algorithm = "sliding_window", .capacity = 5, .window = "PT1H"},
        {.name = "e", .algorithm = "sliding_window_estimate", .capacity = 5, .window = "PT1H"},
        {.name = "f", .algorithm = "cooldown", .cooldown = "PT5M", .max_per_hour = 4},
        {.name = "g", .algorithm = "concurrency", .capacity = 5, .window = "PT1M"},
    };

    for (const PlanDraft& draft : drafts) {
        EXPECT_EQ(good(make_plan(draft)).algorithm(), draft.algorithm);
    }
}

TEST(Plan, AcceptsOnlyNamesOfItsAlphabet) {
    for (const char* name : {"a", "A-1_b.c:d", "0"}) {
        EXPECT_TRUE(is_plan_name(name)) << name;
    }
    for (const char* name : {"", "a b", "a/b", "{a}", "ä", "a\n"}) {
        EXPECT_FALSE(is_plan_name(name)) << name;
    }
    EXPECT_TRUE(is_plan_name(std::string(128, 'x')));
    EXPECT_FALSE(is_plan_name(std::string(129, 'x')));
}

TEST(Plan, LeasesFromOneTokenToAllOfThem) {
    PlanDraft draft = gold();
    EXPECT_EQ(good(make_plan(draft)).traits().lease, 0);
    for (const Tokens lease : {1, 10}) {
        draft.lease = lease;
        EXPECT_EQ(good(make_plan(draft)).traits().lease, lease);
    }
    for (const Tokens lease : {0, -1, 11}) {
        draft.lease = lease;
        EXPECT_EQ(refusal(draft), "plan 'gold': lease must be from 1 to the capacity");
    }
}

TEST(Plan, IsTheSameOnlyByNameRuleAndTraits) {
    const Plan one = plan("p", bucket(5, 1, 1s));

    EXPECT_EQ(one, plan("p", bucket(5, 1, 1s)));
    EXPECT_NE(one, plan("q", bucket(5, 1, 1s)));
    EXPECT_NE(one, plan("p", bucket(6, 1, 1s)));
    EXPECT_NE(one, plan("p", bucket(5, 1, 2s)));
    EXPECT_NE(one, plan("p", bucket(5, 1, 1s), kShadow));
    EXPECT_NE(plan("p", aligned(5, 1s)), plan("p", from_first_hit(5, 1s)));
    EXPECT_NE(plan("p", good(Cooldown::make(1s, 5))), plan("p", good(Cooldown::make(2s, 5))));
    EXPECT_NE(plan("p", good(SlidingWindow::make(5, 1s))), plan("p", good(SlidingWindow::make(5, 2s))));
}

TEST(Plan, SharesItsIdWithCopiesAlone) {
    const Plan plan = good(make_plan(gold()));
    const Plan again = good(make_plan(gold()));
    const std::vector<Plan> copies{plan};

    EXPECT_EQ(again, plan);
    EXPECT_NE(again.id(), plan.id());
    EXPECT_EQ(copies.front().id(), plan.id());
}

TEST(Plan, NamesItselfInEveryRefusal) {
    PlanDraft draft = gold();
    draft.refill = "often";

    EXPECT_THAT(refusal(draft), HasSubstr("plan 'gold': refill must be like 10/s"));
    draft.refill = "1/sec";
    EXPECT_THAT(refusal(draft), HasSubstr("plan 'gold': refill must be like 10/s"));
}

TEST(Plan, RefusesFieldsThatItsAlgorithmHasNoUseFor) {
    PlanDraft windowed = gold();
    windowed.window = "PT1H";
    PlanDraft paused = gold();
    paused.cooldown = "PT1H";
    const PlanDraft month{
        .name = "m", .algorithm = "fixed_window", .capacity = 1, .window = "month", .start = "first_hit"};

    const PlanDraft leased{
        .name = "l", .algorithm = "sliding_window", .capacity = 5, .window = "PT1H", .lease = 2};

    EXPECT_THAT(refusal(leased), HasSubstr("plan 'l': lease is of no use to sliding_window"));
    EXPECT_THAT(refusal(windowed), HasSubstr("window is of no use to token_bucket"));
    EXPECT_THAT(refusal(paused), HasSubstr("cooldown is of no use"));
    EXPECT_THAT(refusal(month), HasSubstr("start is of no use to a calendar window"));
}

TEST(Plan, RefusesWhatIsMissingOrUnknown) {
    PlanDraft nameless = gold();
    nameless.name = "";
    PlanDraft unlimited = gold();
    unlimited.capacity.reset();
    PlanDraft unknown = gold();
    unknown.algorithm = "leaky_bucket";
    PlanDraft careless = gold();
    careless.on_store_failure = "never";
    const PlanDraft endless{.name = "w", .algorithm = "fixed_window", .capacity = 1};
    const PlanDraft pausing{.name = "c", .algorithm = "cooldown", .cooldown = "PT1S"};

    EXPECT_THAT(refusal(nameless), HasSubstr("name"));
    EXPECT_THAT(refusal(unlimited), HasSubstr("capacity is missing"));
    EXPECT_THAT(refusal(unknown),
                HasSubstr("unknown algorithm 'leaky_bucket'; it is one of token_bucket, fixed_window"));
    unknown.algorithm = "tokn_bucket";
    EXPECT_THAT(refusal(unknown),
                HasSubstr("unknown algorithm 'tokn_bucket'; the nearest known one is 'token_bucket'"));
    unknown.algorithm = "";
    EXPECT_THAT(refusal(unknown), HasSubstr("algorithm is missing; it is one of"));
    EXPECT_THAT(refusal(careless), HasSubstr("on_store_failure"));
    EXPECT_THAT(refusal(endless), HasSubstr("window must be an ISO-8601 duration"));
    EXPECT_THAT(refusal(pausing), HasSubstr("max_per_hour"));
}

TEST(Plan, RefusesACooldownWhoseTwoLimitsDisagree) {
    PlanDraft draft{.name = "c", .algorithm = "cooldown", .cooldown = "PT1S", .max_per_hour = 4};
    draft.capacity = 4;
    EXPECT_EQ(refusal(draft), "accepted");

    draft.capacity = 5;
    EXPECT_THAT(refusal(draft), HasSubstr("disagree"));
}

TEST(Refill, ReadsUnitsAndDurations) {
    const auto reads = [](std::string_view text) {
        const Refill refill = good(parse_refill(text));
        return std::pair{refill.tokens, refill.period};
    };

    EXPECT_EQ(reads("10/s"), (std::pair<Tokens, Wait>{10, 1s}));
    EXPECT_EQ(reads("600/m"), (std::pair<Tokens, Wait>{600, 1min}));
    EXPECT_EQ(reads("1/h"), (std::pair<Tokens, Wait>{1, 1h}));
    EXPECT_EQ(reads("1/d"), (std::pair<Tokens, Wait>{1, 24h}));
    EXPECT_EQ(reads("1000/PT15M"), (std::pair<Tokens, Wait>{1000, 15min}));
    EXPECT_EQ(reads("3/PT0.5S"), (std::pair<Tokens, Wait>{3, 500ms}));
}

TEST(Refill, RefusesAnythingElse) {
    for (const char* text : {"", "/", "10", "10/", "/s", "0/s", "-1/s", "+1/s", " 1/s", "1.5/s", "1/S",
                             "1/ms", "1/w", "1/PT0S", "1/P1M", "1e3/s", "99999999999999999999/s", "1/s "}) {
        EXPECT_FALSE(parse_refill(text)) << text;
    }
}

}  // namespace
}  // namespace sluice::test
