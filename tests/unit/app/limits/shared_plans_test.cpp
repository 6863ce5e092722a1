#include "app/limits/shared_plans.hpp"

#include <thread>

#include <gmock/gmock.h>

#include "support/recording_log.hpp"

namespace sluice::test {
namespace {

PlanDraft bucket_draft(std::string name, Tokens capacity) {
    return {.name = std::move(name), .algorithm = "token_bucket", .capacity = capacity, .refill = "1/s"};
}

// In memory, for as many nodes as want it.
class ShelfInMemory final : public PlanShelf {
public:
    Result<void, LimitFault> put_plan(std::string_view name, std::string_view words) override {
        return change([&] { plans[std::string{name}] = words; });
    }
    Result<void, LimitFault> remove_plan(std::string_view name) override {
        return change([&] { plans.erase(std::string{name}); });
    }
    Result<std::vector<Entry>, LimitFault> all_plans() override {
        const std::lock_guard lock{mutex};
        if (away) {
            return Unexpected{LimitFault::Unavailable};
        }
        std::vector<Entry> entries;
        for (const auto& [name, words] : plans) {
            entries.push_back({name, words});
        }
        return entries;
    }

    template <class Change>
    Result<void, LimitFault> change(Change how) {
        const std::lock_guard lock{mutex};
        if (away) {
            return Unexpected{LimitFault::Unavailable};
        }
        how();
        return {};
    }

    std::mutex mutex;
    std::map<std::string, std::string> plans;
    std::atomic<bool> away = false;
};

class SharedPlansTest : public testing::Test {
protected:
    static Tokens limit_of(const PlanBook& book, std::string_view name) {
        const auto plans = book.current();
        const BookedPlan* const booked = plans->find(name);
        return booked == nullptr ? 0 : booked->plan.limit();
    }

    const std::unique_ptr<Runtime> runtime_ = make_machine_runtime();
    ShelfInMemory shelf_;
    RecordingLog log_;
    PlanBook one_;
    PlanBook other_;
};

TEST_F(SharedPlansTest, ReachOtherNodesAndThoseThatStartLater) {
    SharedPlans here{one_, shelf_, log_, *runtime_};
    SharedPlans there{other_, shelf_, log_, *runtime_};

    ASSERT_TRUE(here.put(bucket_draft("gold", 5)));

    EXPECT_EQ(limit_of(one_, "gold"), 5);
    ASSERT_TRUE(there.refresh());
    EXPECT_EQ(limit_of(other_, "gold"), 5);
    PlanBook later;
    const SharedPlans restarted{later, shelf_, log_, *runtime_};
    EXPECT_EQ(limit_of(later, "gold"), 5);

    EXPECT_TRUE(there.remove("gold").value());
    EXPECT_FALSE(there.remove("gold").value());
    ASSERT_TRUE(here.refresh());
    EXPECT_EQ(limit_of(one_, "gold"), 0);
}

TEST_F(SharedPlansTest, ReachOtherNodesByThemselves) {
    SharedPlans here{one_, shelf_, log_, *runtime_};
    const SharedPlans there{other_, shelf_, log_, *runtime_};
    ASSERT_TRUE(here.put(bucket_draft("gold", 5)));

    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{20};
    while (limit_of(other_, "gold") != 5) {
        ASSERT_LT(std::chrono::steady_clock::now(), deadline);
        std::this_thread::yield();
    }
}

TEST_F(SharedPlansTest, GiveWayToThePlansFile) {
    ASSERT_TRUE(one_.load({bucket_draft("gold", 9)}));
    SharedPlans here{one_, shelf_, log_, *runtime_};
    SharedPlans there{other_, shelf_, log_, *runtime_};

    const auto refused = here.put(bucket_draft("gold", 5));
    ASSERT_TRUE(there.put(bucket_draft("gold", 5)));
    ASSERT_TRUE(here.refresh());

    EXPECT_EQ(refused.error().kind, LimitErrorKind::InvalidRule);
    EXPECT_EQ(limit_of(one_, "gold"), 9);
    EXPECT_EQ(limit_of(other_, "gold"), 5);
}

TEST_F(SharedPlansTest, StayAsTheyAreWhileTheStoreIsAway) {
    SharedPlans here{one_, shelf_, log_, *runtime_};
    ASSERT_TRUE(here.put(bucket_draft("gold", 5)));
    const auto version = one_.current()->version();
    EXPECT_TRUE(here.refresh());
    EXPECT_EQ(one_.current()->version(), version) << "nothing changed";
    shelf_.away = true;

    EXPECT_FALSE(here.refresh());
    EXPECT_EQ(here.put(bucket_draft("gold", 7)).error().kind, LimitErrorKind::Unavailable);
    EXPECT_EQ(here.remove("gold").error().kind, LimitErrorKind::Unavailable);

    EXPECT_EQ(limit_of(one_, "gold"), 5);
}

TEST_F(SharedPlansTest, LeaveOutWhatThisVersionDoesNotKnow) {
    shelf_.plans = {{"gold", "algorithm=token_bucket refill=1/s capacity=5"},
                    {"newer", "algorithm=token_bucket refill=1/s capacity=5 colour=blue"},
                    {"odd", "algorithm=token_bucket refill=1/s capacity=0"}};

    const SharedPlans here{one_, shelf_, log_, *runtime_};

    EXPECT_EQ(limit_of(one_, "gold"), 5);
    EXPECT_EQ(one_.current()->all().size(), 1U);
    EXPECT_EQ(log_.count_starting("WARN Plans - Not all of the administrators' plans are in force"), 1U);
}

TEST(PlanWords, SayEveryField) {
    const std::vector<PlanDraft> drafts{
        {.name = "a",
         .algorithm = "token_bucket",
         .capacity = 7,
         .refill = "1/PT1.5S",
         .on_store_failure = "local",
         .shadow = true,
         .lease = 3},
        {.name = "b", .algorithm = "fixed_window", .capacity = 7, .window = "PT1H", .start = "first_hit"},
        {.name = "c", .algorithm = "cooldown", .cooldown = "PT5M", .max_per_hour = 4},
    };
    for (const PlanDraft& draft : drafts) {
        EXPECT_EQ(draft_of_words(draft.name, words_of(draft)), draft);
    }
    EXPECT_EQ(words_of(drafts[2]), "algorithm=cooldown cooldown=PT5M max_per_hour=4");
    for (const char* wrong : {"capacity", "capacity=x", "capacity=1x", "shadow=false", "colour=blue"}) {
        EXPECT_EQ(draft_of_words("d", wrong), std::nullopt) << wrong;
    }
}

}  // namespace
}  // namespace sluice::test
