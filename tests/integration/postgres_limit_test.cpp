#include <atomic>
#include <future>
#include <thread>

#include <gmock/gmock.h>

#include "base/random.hpp"
#include "support/limit_words.hpp"
#include "support/postgres_limits.hpp"

// What the store of limits keeps in PostgreSQL, and what it does when others are there too.
namespace sluice::test {
namespace {

using postgres::Connection;

const Plan kGold = plan("gold", bucket(10, 1, 1s));
const Plan kDaily = plan("daily", calendar(20, WindowKind::Day));
const Plan kStrict = plan("strict", aligned(3, 1min));
const Plan kScarce = plan("scarce", bucket(500, 1, 24h));

// How many keys something is held against.
constexpr const char* kCharged = "select count(*) from sluice.limit_state where state is not null";

class PostgresLimits : public PostgresTest {
protected:
    PostgresLimits() : PostgresTest{Furnished::WithSlots} {}

    void SetUp() override {
        PostgresTest::SetUp();
        if (!IsSkipped()) {
            session_ = connect();
        }
    }

    // One that finds a held key contended soon.
    [[nodiscard]] static PostgresLimitOptions hasty() {
        PostgresLimitOptions options = PostgresLimitsOn::patient();
        options.key_wait = 50ms;
        return options;
    }

    static CheckOutcome take(LimitStore& store, std::string_view key, std::vector<const Plan*> plans,
                             Tokens cost = 1) {
        const Check check{key, plans, cost};
        CheckOutcome outcome = Verdict{};
        store.take({&check, 1}, {&outcome, 1});
        return outcome;
    }

    // As take(), where it must be allowed.
    static void charge(LimitStore& store, std::string_view key, std::vector<const Plan*> plans,
                       Tokens cost = 1) {
        const CheckOutcome outcome = take(store, key, std::move(plans), cost);
        ASSERT_TRUE(outcome && outcome->allowed);
    }

    // A batch of one check for each key, under kGold.
    static std::vector<CheckOutcome> take_each(LimitStore& store, const std::vector<std::string>& keys) {
        const std::array plans{&kGold};
        std::vector<Check> checks;
        for (const std::string& key : keys) {
            checks.push_back({key, plans, 1});
        }
        std::vector<CheckOutcome> outcomes(checks.size(), Verdict{});
        store.take(checks, outcomes);
        return outcomes;
    }

    std::unique_ptr<Connection> session_;
};

TEST_F(PostgresLimits, AChainWhoseThirdPlanDeniesLeavesNothingInTheTable) {
    PostgresLimitsOn store{dsn()};
    charge(*store, "a", {&kStrict}, 3);
    const std::string all =
        "select string_agg(s::text, ' ' order by s::text) from sluice.limit_state s"
        " where state is not null";
    const std::string before = ask(*session_, all);

    EXPECT_FALSE(take(*store, "a", {&kGold, &kDaily, &kStrict})->allowed);

    EXPECT_EQ(ask(*session_, all), before);
    EXPECT_EQ(ask(*session_, kCharged), "1");
}

TEST_F(PostgresLimits, PeeksAndInspectionsLeaveNothingInTheTable) {
    PostgresLimitsOn store{dsn()};
    const std::array plans{&kGold, &kStrict};

    EXPECT_TRUE(take(*store, "a", {&kGold, &kStrict}, 0)->allowed);
    EXPECT_TRUE(store->inspect("a", plans));

    EXPECT_EQ(ask(*session_, "select count(*) from sluice.limit_state"), "0");
}

TEST_F(PostgresLimits, AKeyThatAnotherTransactionHoldsIsContendedAlone) {
    PostgresLimitsOn store{dsn(), hasty()};
    set_limit_clock(*session_, kMidnight);
    take_each(*store, {"a", "held", "z"});
    ask(*session_, "begin");
    ask(*session_, "select 1 from sluice.limit_state where limit_key = 'held' for update");

    const auto outcomes = take_each(*store, {"a", "held", "new", "z"});

    EXPECT_EQ(outcomes[1].error(), LimitFault::Contended);
    EXPECT_EQ(outcomes[0]->remaining, 8);
    EXPECT_EQ(outcomes[2]->remaining, 9);
    EXPECT_EQ(outcomes[3]->remaining, 8);
    EXPECT_TRUE(take(*store, "held", {&kGold}, 0)->allowed);  // Looking needs no lock.
    ask(*session_, "commit");
    EXPECT_EQ(take(*store, "held", {&kGold}, 0)->remaining, 9);
}

TEST_F(PostgresLimits, GoesByTheTimeAtWhichItGotTheKey) {
    PostgresLimitsOn store{dsn()};
    set_limit_clock(*session_, kMidnight);
    charge(*store, "a", {&kGold}, 10);
    ask(*session_, "begin");
    ask(*session_, "select 1 from sluice.limit_state for update");
    auto waits = std::async(std::launch::async, [&] { return take(*store, "a", {&kGold}, 5); });
    await(*session_, kWaiting, "1");

    set_limit_clock(*session_, kMidnight + 5s);
    ask(*session_, "commit");

    const CheckOutcome outcome = waits.get();
    ASSERT_TRUE(outcome);
    EXPECT_TRUE(outcome->allowed);
}

TEST_F(PostgresLimits, ANewKeyThatAnotherTransactionBringsIsContendedAlone) {
    PostgresLimitsOn store{dsn(), hasty()};
    ask(*session_, "begin");
    ask(*session_, "insert into sluice.limit_state (limit_key, plan_nm) values ('held', 'gold')");

    const auto outcomes = take_each(*store, {"a", "held", "z"});

    EXPECT_EQ(outcomes[1].error(), LimitFault::Contended);
    EXPECT_EQ(outcomes[0]->remaining, 9);
    EXPECT_EQ(outcomes[2]->remaining, 9);
    ask(*session_, "rollback");
    EXPECT_EQ(take(*store, "held", {&kGold})->remaining, 9);
}

TEST_F(PostgresLimits, AChainOfWhichOnePlanIsHeldChargesNothing) {
    PostgresLimitsOn store{dsn(), hasty()};
    set_limit_clock(*session_, kMidnight);
    charge(*store, "a", {&kGold, &kStrict});
    ask(*session_, "begin");
    ask(*session_, "select 1 from sluice.limit_state where plan_nm = 'strict' for update");

    const CheckOutcome outcome = take(*store, "a", {&kGold, &kStrict});

    EXPECT_EQ(outcome.error(), LimitFault::Contended);
    ask(*session_, "commit");
    EXPECT_EQ(take(*store, "a", {&kStrict}, 0)->remaining, 2);
}

TEST_F(PostgresLimits, APlanInShadowModeThatIsHeldDeniesNobody) {
    const Plan tried = plan("tried", bucket(5, 1, 1h), kShadow);
    PostgresLimitsOn store{dsn(), hasty()};
    set_limit_clock(*session_, kMidnight);
    charge(*store, "a", {&kGold, &tried});
    ask(*session_, "begin");
    ask(*session_, "select 1 from sluice.limit_state where plan_nm = 'tried' for update");

    const CheckOutcome outcome = take(*store, "a", {&kGold, &tried});

    ASSERT_TRUE(outcome);
    EXPECT_TRUE(outcome->allowed);
    EXPECT_TRUE(outcome->shadowed);
    ask(*session_, "commit");
    EXPECT_EQ(take(*store, "a", {&kGold}, 0)->remaining, 8);
    EXPECT_EQ(take(*store, "a", {&tried}, 0)->remaining, 4);
}

// Every commit takes longer than the store waits for a key.
TEST_F(PostgresLimits, ThirtyTwoClientsOfOneKeyGetAnswersHoweverSlowTheDiskIs) {
    ask(*session_,
        "create function slow_commit() returns trigger language plpgsql as"
        " 'begin perform pg_sleep(0.03); return null; end';"
        "create constraint trigger slow_commit after insert or update on sluice.limit_state"
        " deferrable initially deferred for each row execute function slow_commit()");
    PostgresLimitOptions options = PostgresLimitsOn::patient();
    options.key_wait = 10ms;
    PostgresLimitsOn store{dsn(), options};
    std::atomic<int> allowed{0};
    {
        std::vector<std::jthread> clients;
        for (int i = 0; i < 32; ++i) {
            clients.emplace_back([&] {
                const auto outcome = take(*store, "hot", {&kScarce});
                allowed += outcome && outcome->allowed ? 1 : 0;
            });
        }
    }

    EXPECT_EQ(allowed.load(), 32);
    ask(*session_, "drop function slow_commit() cascade");  // The database serves others after this.
}

// A key that was held just now is not waited for again: other keys of later batches do not suffer.
TEST_F(PostgresLimits, AKeyThatStaysHeldHoldsUpOneBatchOnly) {
    PostgresLimitOptions options = PostgresLimitsOn::patient();
    options.key_wait = 2s;
    PostgresLimitsOn store{dsn(), options};
    take_each(*store, {"held"});
    ask(*session_, "begin");
    ask(*session_, "select 1 from sluice.limit_state for update");
    EXPECT_EQ(take_each(*store, {"held"})[0].error(), LimitFault::Contended);

    const auto began = std::chrono::steady_clock::now();
    const auto outcomes = take_each(*store, {"a", "held"});

    EXPECT_TRUE(outcomes[0]);
    EXPECT_EQ(outcomes[1].error(), LimitFault::Contended);
    EXPECT_LT(std::chrono::steady_clock::now() - began, 2s);
    ask(*session_, "commit");
}

TEST_F(PostgresLimits, WaitsForAKeyThatIsLetGoSoon) {
    PostgresLimitsOn store{dsn()};
    charge(*store, "held", {&kGold});
    const auto holder = connect();
    ask(*holder, "begin");
    ask(*holder, "select 1 from sluice.limit_state for update");

    auto waiting = std::async(std::launch::async, [&] { return take(*store, "held", {&kGold}); });
    await(*session_, kWaiting, "1");
    ask(*holder, "commit");

    EXPECT_TRUE(waiting.get()->allowed);
}

TEST_F(PostgresLimits, AKeyThatIsRemovedWhileItIsWaitedForBeginsFresh) {
    PostgresLimitsOn store{dsn()};
    charge(*store, "a", {&kScarce}, 500);
    charge(*store, "b", {&kScarce}, 500);
    const auto holder = connect();
    ask(*holder, "begin");
    ask(*holder, "select 1 from sluice.limit_state where limit_key = 'a' for update");

    auto waiting = std::async(std::launch::async, [&] {
        const std::array plans{&kScarce};
        const std::array<Check, 2> checks{Check{"a", plans, 1}, Check{"b", plans, 1}};
        std::array<CheckOutcome, 2> outcomes{Verdict{}, Verdict{}};
        store->take(checks, outcomes);
        return outcomes;
    });
    await(*session_, kWaiting, "1");
    ask(*holder, "delete from sluice.limit_state where limit_key = 'a'; commit");

    const auto outcomes = waiting.get();
    EXPECT_EQ(outcomes[0]->remaining, 499);
    EXPECT_FALSE(outcomes[1]->allowed);
}

TEST_F(PostgresLimits, SixtyFourClientsOfTwoStoresGetExactlyWhatIsLeft) {
    PostgresLimitsOn first{dsn()};
    PostgresLimitsOn second{dsn()};
    std::atomic<int> allowed{0};
    std::atomic<int> failed{0};
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 64; ++i) {
            threads.emplace_back([&, i] {
                for (int turn = 0; turn < 12; ++turn) {
                    const auto outcome = take(i % 2 == 0 ? *first : *second, "hot", {&kScarce});
                    allowed += outcome && outcome->allowed ? 1 : 0;
                    failed += outcome ? 0 : 1;
                }
            });
        }
    }

    EXPECT_EQ(allowed.load(), 500);
    EXPECT_EQ(failed.load(), 0);
}

TEST_F(PostgresLimits, BatchesOfTheSameKeysInAnyOrderDoNotBlockEachOther) {
    constexpr int kThreads = 8;
    constexpr int kBatches = 20;
    const std::array plans{&kScarce};
    PostgresLimitsOn first{dsn()};
    PostgresLimitsOn second{dsn()};
    std::atomic<int> failed{0};
    {
        std::vector<std::jthread> threads;
        for (std::uint64_t i = 0; i < kThreads; ++i) {
            threads.emplace_back([&, i] {
                Random random{i};
                std::vector<std::string> keys{"a", "b", "c", "d", "e", "f"};
                for (int turn = 0; turn < kBatches; ++turn) {
                    for (std::size_t at = keys.size(); at > 1; --at) {
                        std::swap(keys[at - 1], keys[random.below(at)]);
                    }
                    std::vector<Check> checks;
                    for (const std::string& key : keys) {
                        checks.push_back({key, plans, 1});
                    }
                    std::vector<CheckOutcome> outcomes(checks.size(), Verdict{});
                    (i % 2 == 0 ? *first : *second).take(checks, outcomes);
                    failed += static_cast<int>(
                        std::ranges::count_if(outcomes, [](const auto& each) { return !each; }));
                }
            });
        }
    }

    EXPECT_EQ(failed.load(), 0);
    EXPECT_EQ(take(*first, "c", {&kScarce}, 0)->remaining, 500 - kThreads * kBatches);
}

TEST_F(PostgresLimits, KeepsAdministratorsPlansForAllStores) {
    PostgresLimitsOn one{dsn()};
    PostgresLimitsOn other{dsn()};
    ASSERT_TRUE(one->put_plan("gold", "capacity=1"));
    ASSERT_TRUE(one->put_plan("gold", "capacity=2"));
    ASSERT_TRUE(one->put_plan("silver", "capacity=3"));
    ASSERT_TRUE(other->remove_plan("silver"));
    ASSERT_TRUE(other->remove_plan("nobody"));

    const auto plans = other->all_plans();

    ASSERT_TRUE(plans);
    ASSERT_EQ(plans->size(), 1U);
    EXPECT_EQ(plans->front().name, "gold");
    EXPECT_EQ(plans->front().words, "capacity=2");
}

TEST_F(PostgresLimits, DecidesALongBatchInPartsAndInItsOrder) {
    PostgresLimitOptions options = PostgresLimitsOn::patient();
    options.batch_max = 4;
    PostgresLimitsOn store{dsn(), options};
    set_limit_clock(*session_, kMidnight);

    const auto outcomes = take_each(*store, std::vector<std::string>(11, "a"));

    for (std::size_t i = 0; i < 10; ++i) {
        EXPECT_EQ(outcomes[i]->remaining, 9 - static_cast<Tokens>(i));
    }
    EXPECT_FALSE(outcomes[10]->allowed);
}

TEST_F(PostgresLimits, ChecksOfSeveralKeysAreChargedTogetherOrNotAtAll) {
    PostgresLimitsOn store{dsn()};
    set_limit_clock(*session_, kMidnight);
    const std::array gold{&kGold};
    const std::array both{&kGold, &kStrict};
    const std::array<Check, 2> checks{Check{"user", gold, 1}, Check{"tenant", both, 2}};

    const CheckOutcome first = store->take_together(checks);
    const CheckOutcome second = store->take_together(checks);

    EXPECT_TRUE(first->allowed);
    EXPECT_EQ(first->plan, 2U);  // Of the plans of both checks, the tightest.
    EXPECT_EQ(first->remaining, 1);
    EXPECT_FALSE(second->allowed);
    EXPECT_EQ(second->plan, 2U);
    EXPECT_EQ(take(*store, "user", {&kGold}, 0)->remaining, 9);
    EXPECT_EQ(take(*store, "tenant", {&kStrict}, 0)->remaining, 1);
}

TEST_F(PostgresLimits, ChecksThatCannotBeDecidedTogetherAreRefused) {
    PostgresLimitsOn store{dsn()};
    const std::array gold{&kGold};
    const std::array<Check, 2> twice{Check{"a", gold, 1}, Check{"a", gold, 1}};
    const std::vector<std::string> names{"a", "b", "c", "d", "e", "f", "g", "h", "i",
                                         "j", "k", "l", "m", "n", "o", "p", "q"};
    std::vector<Check> many;
    for (const std::string& name : names) {
        many.push_back({name, gold, 1});
    }
    const std::array<Check, 2> dear{Check{"a", gold, 1}, Check{"b", gold, 11}};

    EXPECT_EQ(store->take_together(twice).error(), LimitFault::InvalidPlans);
    EXPECT_EQ(store->take_together(many).error(), LimitFault::InvalidPlans);
    EXPECT_EQ(store->take_together(dear).error(), LimitFault::InvalidCost);
    EXPECT_EQ(ask(*session_, kCharged), "0");
}

TEST_F(PostgresLimits, RemovesWhatHasBeenIdleForAnHourAndNothingElse) {
    PostgresLimitsOn store{dsn()};
    set_limit_clock(*session_, kMidnight);
    const Plan slow = plan("slow", bucket(10, 1, 24h));
    take_each(*store, {"idle", "locked", "overridden"});
    charge(*store, "live", {&slow});
    ASSERT_TRUE(store->put_override("overridden", kGold, {bucket(5, 1, 1s), kMidnight + 3h}));
    const auto holder = connect();
    ask(*holder, "begin");
    ask(*holder, "select 1 from sluice.limit_state where limit_key = 'locked' for update");
    const std::string sweep = "select removed from sluice.sweep_limits(0, 100, 3600000000)";

    set_limit_clock(*session_, kMidnight + 1h);
    EXPECT_EQ(ask(*session_, sweep), "0");
    set_limit_clock(*session_, kMidnight + 1h + 1s);
    EXPECT_EQ(ask(*session_, sweep), "1");

    EXPECT_EQ(ask(*session_,
                  "select string_agg(convert_from(limit_key, 'UTF8'), ' ' order by limit_key)"
                  " from sluice.limit_state"),
              "live locked overridden");
}

TEST_F(PostgresLimits, WalksThroughTheWholeTableInSmallParts) {
    ask(*session_,
        "insert into sluice.limit_state (limit_key, plan_nm, idle_at)"
        " select convert_to(n::text, 'UTF8'), 'gold', 0 from generate_series(1, 2000) n");

    std::string page = "0";
    int parts = 0;
    while (!page.empty()) {
        page = ask(*session_, "select next_page from sluice.sweep_limits(" + page + ", 4, 0)");
        ++parts;
    }

    EXPECT_GT(parts, 2);
    EXPECT_EQ(ask(*session_, "select count(*) from sluice.limit_state"), "0");
}

TEST_F(PostgresLimits, CleansUpByItself) {
    ask(*session_, "insert into sluice.limit_state (limit_key, plan_nm, idle_at) values ('old', 'gold', 0)");

    PostgresLimitsOn store{dsn()};

    await(*session_, "select count(*) from sluice.limit_state", "0");
}

TEST_F(PostgresLimits, KeepsLimitsForWhoeverComesNext) {
    {
        PostgresLimitsOn store{dsn()};
        charge(*store, "a", {&kDaily}, 15);
    }

    PostgresLimitsOn store{dsn()};

    EXPECT_EQ(take(*store, "a", {&kDaily}, 0)->remaining, 5);
}

// What was allowed before the server was killed counts after it: nobody gets more than there is.
TEST(PostgresLimitKill, NeverAllowsMoreThanThereIsAcrossAKilledServer) {
    if (postgres_address().empty()) {
        GTEST_SKIP() << "SLUICE_TEST_POSTGRES is not set; tools/services starts a server";
    }
    OwnServer server;
    PostgresLimitsOn store{server.dsn()};
    const std::array plans{&kScarce};
    std::atomic<int> allowed{0};
    std::atomic<int> unknown{0};
    std::atomic<int> other_faults{0};
    std::atomic<bool> denied{false};
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 8; ++i) {
            threads.emplace_back([&] {
                while (!denied) {
                    const Check check{"hot", plans, 1};
                    CheckOutcome outcome = Verdict{};
                    store->take({&check, 1}, {&outcome, 1});
                    allowed += outcome && outcome->allowed ? 1 : 0;
                    unknown += !outcome && outcome.error() == LimitFault::Unavailable ? 1 : 0;
                    other_faults += !outcome && outcome.error() != LimitFault::Unavailable ? 1 : 0;
                    denied = denied || (outcome && !outcome->allowed);
                }
            });
        }
        while (allowed < 100) {
            std::this_thread::yield();
        }
        server.kill();
        server.revive();
    }

    EXPECT_GT(unknown.load(), 0);
    EXPECT_EQ(other_faults.load(), 0);
    EXPECT_LE(allowed.load(), 500);
    EXPECT_GE(allowed.load(), 500 - 8);  // At most one of each thread was under way when the server died.
}

}  // namespace
}  // namespace sluice::test
