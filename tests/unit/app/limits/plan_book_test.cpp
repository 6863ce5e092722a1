#include "app/limits/plan_book.hpp"

#include <gtest/gtest.h>

#include "support/limit_words.hpp"

namespace sluice::test {
namespace {

PlanDraft bucket_draft(std::string name, Tokens capacity) {
    return {.name = std::move(name), .algorithm = "token_bucket", .capacity = capacity, .refill = "1/s"};
}

std::string names(const PlanSet& plans) {
    std::string text;
    for (const auto& booked : plans.all()) {
        text += booked->plan.name() + (booked->origin == PlanOrigin::File ? "(file) " : "(admin) ");
    }
    return text;
}

TEST(PlanBook, BeginsEmpty) {
    const PlanBook book;

    EXPECT_TRUE(book.current()->all().empty());
    EXPECT_EQ(book.current()->find("gold"), nullptr);
    EXPECT_EQ(book.current()->version(), 0U);
}

TEST(PlanBook, TakesAFileWhole) {
    PlanBook book;

    ASSERT_TRUE(book.load({bucket_draft("silver", 5), bucket_draft("gold", 10)}));

    EXPECT_EQ(names(*book.current()), "gold(file) silver(file) ");
    EXPECT_EQ(book.current()->find("gold")->plan.limit(), 10);
    EXPECT_EQ(book.current()->version(), 1U);
}

TEST(PlanBook, RefusesAFileWholeWhenOnePlanIsWrong) {
    PlanBook book;
    ASSERT_TRUE(book.load({bucket_draft("gold", 10)}));

    const auto loaded = book.load({bucket_draft("silver", 5), bucket_draft("gold", 0)});

    ASSERT_FALSE(loaded);
    EXPECT_NE(loaded.error().what.find("plan 'gold'"), std::string::npos) << loaded.error().what;
    EXPECT_EQ(names(*book.current()), "gold(file) ");
    EXPECT_EQ(book.current()->find("gold")->plan.limit(), 10);
    EXPECT_EQ(book.current()->version(), 1U);
}

TEST(PlanBook, RefusesAPlanThatStandsInTheFileTwice) {
    PlanBook book;

    const auto loaded = book.load({bucket_draft("gold", 1), bucket_draft("gold", 2)});

    ASSERT_FALSE(loaded);
    EXPECT_EQ(loaded.error().what, "plan 'gold' stands there twice");
}

TEST(PlanBook, KeepsPlansOfAdministratorsBesideThoseOfTheFile) {
    PlanBook book;
    ASSERT_TRUE(book.load({bucket_draft("gold", 10), bucket_draft("silver", 5)}));
    ASSERT_TRUE(book.put(bucket_draft("extra", 1)));
    ASSERT_TRUE(book.put(bucket_draft("gold", 20)));
    EXPECT_EQ(names(*book.current()), "extra(admin) gold(admin) silver(file) ");
    EXPECT_EQ(book.current()->find("gold")->plan.limit(), 20);

    ASSERT_TRUE(book.load({bucket_draft("gold", 10)}));

    EXPECT_EQ(names(*book.current()), "extra(admin) gold(file) ");
    EXPECT_EQ(book.current()->find("gold")->plan.limit(), 10);
}

TEST(PlanBook, ShowsWhyAFileWasRefusedUntilOneIsTaken) {
    PlanBook book;
    ASSERT_TRUE(book.load({bucket_draft("gold", 10)}));

    book.refuse_file("plans.yaml: bad");

    EXPECT_EQ(book.current()->file_error(), "plans.yaml: bad");
    EXPECT_EQ(names(*book.current()), "gold(file) ");
    EXPECT_TRUE(book.put(bucket_draft("extra", 1)));
    EXPECT_EQ(book.current()->file_error(), "plans.yaml: bad");
    ASSERT_TRUE(book.load({bucket_draft("gold", 10)}));
    EXPECT_EQ(book.current()->file_error(), "");
}

TEST(PlanBook, LetsWhoHoldsASetKeepIt) {
    PlanBook book;
    ASSERT_TRUE(book.load({bucket_draft("gold", 10)}));
    const auto held = book.current();
    const BookedPlan* gold = held->find("gold");

    EXPECT_TRUE(book.remove("gold"));

    EXPECT_FALSE(book.remove("gold"));
    EXPECT_EQ(book.current()->find("gold"), nullptr);
    EXPECT_EQ(gold->plan.limit(), 10);
}

TEST(PlanBook, GivesANameItsNumberForGood) {
    PlanBook book;
    ASSERT_TRUE(book.load({bucket_draft("b", 1), bucket_draft("a", 1)}));
    const auto number = book.current()->find("a")->number;

    ASSERT_TRUE(book.load({bucket_draft("c", 1)}));
    ASSERT_TRUE(book.load({bucket_draft("a", 9)}));

    EXPECT_EQ(book.current()->find("a")->number, number);
    EXPECT_EQ(number, 1U);
}

TEST(PlanBook, HoldsNoMorePlansThanItMay) {
    PlanBook book;
    std::vector<PlanDraft> drafts;
    for (std::size_t i = 0; i < PlanBook::kPlansMax; ++i) {
        drafts.push_back(bucket_draft("p" + std::to_string(i), 1));
    }
    ASSERT_TRUE(book.load(drafts));

    EXPECT_FALSE(book.put(bucket_draft("one-more", 1)));
    EXPECT_TRUE(book.put(bucket_draft("p0", 2)));
    EXPECT_EQ(book.current()->all().size(), PlanBook::kPlansMax);
}

TEST(PlanBook, KnowsHowLongALimitIsFor) {
    PlanBook book;
    ASSERT_TRUE(book.load({
        {.name = "bucket", .algorithm = "token_bucket", .capacity = 100, .refill = "10/s"},
        {.name = "window", .algorithm = "fixed_window", .capacity = 5, .window = "PT1M"},
        {.name = "day", .algorithm = "fixed_window", .capacity = 5, .window = "day"},
        {.name = "month", .algorithm = "fixed_window", .capacity = 5, .window = "month"},
        {.name = "pause", .algorithm = "cooldown", .cooldown = "PT1S", .max_per_hour = 4},
        {.name = "places", .algorithm = "concurrency", .capacity = 5, .window = "PT1M"},
    }));
    const auto plans = book.current();

    EXPECT_EQ(plans->find("bucket")->window, Wait{10s});
    EXPECT_EQ(plans->find("window")->window, Wait{60s});
    EXPECT_EQ(plans->find("day")->window, Wait{24h});
    EXPECT_EQ(plans->find("month")->window, std::nullopt);
    EXPECT_EQ(plans->find("pause")->window, Wait{1h});
    EXPECT_EQ(plans->find("places")->window, std::nullopt);
}

}  // namespace
}  // namespace sluice::test
