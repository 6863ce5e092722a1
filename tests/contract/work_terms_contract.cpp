#include <atomic>

#include "contract/work_store_contract.hpp"

namespace sluice::test {
namespace {

using testing::IsEmpty;

const Subject kPool{SubjectKind::Pool, "a"};
const Subject kHost{SubjectKind::Host, "h1"};

TEST_P(WorkStoreContract, HoldsNothingAtFirst) {
    EXPECT_EQ(*works().terms().value(), DispatchTerms{});
    EXPECT_THAT(works().counts().value(), IsEmpty());
}

TEST_P(WorkStoreContract, HoldsASubjectUntilItIsLetGo) {
    const Hold hold{Hold::Why::Paused, {}, "ops"};

    ASSERT_TRUE(works().hold(kHost, hold));

    const Hold stored{Hold::Why::Paused, around_.clock.now(), "ops"};
    EXPECT_EQ(works().terms().value()->holds, (std::map<Subject, Hold>{{kHost, stored}}));
    around_.clock.advance(1h);
    ASSERT_TRUE(works().hold(kHost, {Hold::Why::Paused, {}, "another"}));
    restart();
    EXPECT_EQ(works().terms().value()->holds, (std::map<Subject, Hold>{{kHost, stored}}));
    ASSERT_TRUE(works().release(kHost, "ops"));
    ASSERT_TRUE(works().release(kHost, "ops"));
    EXPECT_THAT(works().terms().value()->holds, IsEmpty());
    restart();
    EXPECT_THAT(works().terms().value()->holds, IsEmpty());
}

TEST_P(WorkStoreContract, GivesAPoolTheLowestRateOfAll) {
    ConfigDraft one = draft("a", 100, 1s);
    one.dispatch.rate = GateTerms{50, RateHolds::Sender};
    ConfigDraft other = sharing("a", draft("b", 100, 1s));
    other.dispatch.rate = GateTerms{70, RateHolds::Sender};
    ASSERT_TRUE(slots().put_config(one));
    ASSERT_TRUE(slots().put_config(other));
    const auto gate = [this] { return works().terms().value()->gates.at(kPool); };

    EXPECT_EQ(gate(), (GateTerms{50, RateHolds::Sender}));
    ASSERT_TRUE(works().put_rate(kPool, GateTerms{60, RateHolds::Receiver}, "ops"));
    EXPECT_EQ(gate(), (GateTerms{50, RateHolds::Receiver}));
    restart();
    EXPECT_EQ(gate(), (GateTerms{50, RateHolds::Receiver}));
    ASSERT_TRUE(works().put_rate(kPool, GateTerms{10, RateHolds::Sender}, "ops"));
    EXPECT_EQ(gate(), (GateTerms{10, RateHolds::Sender}));
    ASSERT_TRUE(works().put_rate(kPool, std::nullopt, "ops"));
    one.dispatch.rate.reset();
    ASSERT_TRUE(slots().put_config(one));
    EXPECT_EQ(gate(), (GateTerms{70, RateHolds::Sender}));
}

TEST_P(WorkStoreContract, GivesAHostARateAndTakesItAway) {
    ASSERT_TRUE(works().put_rate(kHost, GateTerms{5}, "ops"));
    restart();
    EXPECT_EQ(works().terms().value()->gates, (std::map<Subject, GateTerms>{{kHost, GateTerms{5}}}));

    ASSERT_TRUE(works().put_rate(kHost, std::nullopt, "ops"));

    EXPECT_THAT(works().terms().value()->gates, IsEmpty());
}

TEST_P(WorkStoreContract, TellsTheSchedulesOfConfigs) {
    ConfigDraft terms = draft("a", 100, 1s);
    terms.dispatch.retries = RetrySchedule{{1s, 2s}};
    terms.dispatch.expires_after = 1h;
    ASSERT_TRUE(slots().put_config(terms));

    restart();

    EXPECT_EQ(works().terms().value()->schedules,
              (std::map<ConfigName, RetrySchedule>{{config("a"), RetrySchedule{{1s, 2s}}}}));
    EXPECT_EQ(slots().active_config(config("a"))->terms.dispatch, terms.dispatch);
}

TEST_P(WorkStoreContract, SharesItsTermsUntilTheyChange) {
    const TermsRef before = works().terms().value();
    EXPECT_EQ(works().terms().value(), before);

    ASSERT_TRUE(works().hold(kHost, {}));

    EXPECT_NE(works().terms().value(), before);
    EXPECT_THAT(before->holds, IsEmpty());
}

TEST_P(WorkStoreContract, TellsWhenThereIsSomethingToLookAt) {
    std::atomic<int> news = 0;
    works().on_news([&](const WorkTidings&) {
        ++news;
        EXPECT_TRUE(works().terms());  // Not called while the store is locked.
    });
    const auto told = [&](auto act) {
        const int before = news;
        act();
        return news > before;
    };

    EXPECT_TRUE(told([&] { give("x"); }));
    EXPECT_FALSE(told([&] { ASSERT_TRUE(run(assign("plain", "a", SlotAsk{kNoon}))); }));
    let_all_come_due();
    EXPECT_FALSE(told([&] { take(kDue, claiming()); }));
    EXPECT_TRUE(told([&] { settle("x", 1, Settlement::Failed{}); }));
    EXPECT_TRUE(told([&] { ASSERT_TRUE(works().replay({.event_ids = {event("x")}}, "ops")); }));
    EXPECT_TRUE(told([&] { ASSERT_TRUE(works().hold(kHost, {})); }));
    EXPECT_TRUE(told([&] { ASSERT_TRUE(works().put_rate(kHost, GateTerms{5}, "ops")); }));
    EXPECT_TRUE(told([&] { ASSERT_TRUE(slots().put_config(draft("b", 5, 1s))); }));
    works().on_news(nullptr);
    EXPECT_FALSE(told([&] { give("y"); }));
}

// Claims of many threads are as good as those of one: each work is claimed once, and no window above its cap.
TEST_P(WorkStoreContract, ClaimsEachWorkOnceWhoeverTakes) {
    std::vector<SlotCommand> commands;
    for (int i = 0; i < 400; ++i) {
        commands.emplace_back(with_work(assign("e" + std::to_string(i), "a", SlotAsk{kNoon})));
    }
    slots().execute(commands);
    go_to(kNoon + 1h);
    std::mutex mutex;
    std::set<std::string> claimed;
    std::size_t doubled = 0;
    WorkStore& store = works();  // Here, by one thread: it may set the store's clock.
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 4; ++i) {
            threads.emplace_back([&] {
                for (int round = 0; round < 20; ++round) {
                    const auto taken = store.take(kDue, 7, [](const DueWork& due) -> WorkVerdict {
                        if (due.sends.sent >= due.sends.cap) {
                            return LeaveIt{};
                        }
                        return ClaimIt{20s};
                    });
                    const std::lock_guard lock{mutex};
                    for (const ClaimedWork& one : taken.value().claimed) {
                        doubled += claimed.insert(one.work.event_id.text()).second ? 0 : 1;
                    }
                }
            });
        }
    }

    EXPECT_EQ(doubled, 0U);
    EXPECT_EQ(claimed.size(), 100U);
    EXPECT_EQ(count(LaneKind::Claimed), 100U);
}

}  // namespace
}  // namespace sluice::test
