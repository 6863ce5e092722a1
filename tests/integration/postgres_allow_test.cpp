#include <future>

#include <gmock/gmock.h>

#include "support/limit_words.hpp"
#include "support/postgres_limits.hpp"

// sluice.allow, as an application calls it inside its own transaction.
namespace sluice::test {
namespace {

using postgres::Connection;

const Plan kGold = plan("gold", bucket(10, 1, 1s));
const Plan kPlaces = plan("places", good(Concurrency::make(2, 1min)));
const Plan kTrial = plan("trial", aligned(1, 1min), kShadow);

std::string state_of(Connection& session, const std::string& sql) {
    const auto rows = session.run_script(sql);
    return rows ? "" : rows.error().sqlstate;
}

class SqlAllow : public PostgresTest {
protected:
    SqlAllow() : PostgresTest{Furnished::WithSlots} {}

    void SetUp() override {
        PostgresTest::SetUp();
        if (!IsSkipped()) {
            owner_ = connect();
            set_limit_clock(*owner_, kMidnight);
            store_ = std::make_unique<PostgresLimitsOn>(dsn());
            const std::array plans{&kGold, &kPlaces, &kTrial};
            ASSERT_TRUE((*store_)->publish_plans(plans));
        }
    }

    // A session with no rights but those of sluice_client.
    [[nodiscard]] std::unique_ptr<Connection> client() const {
        auto session = connect();
        ask(*session, "set role sluice_client");
        return session;
    }

    Tokens left(std::string_view key, const Plan& plan) {
        const Plan* const one = &plan;
        return (*store_)->inspect(key, {&one, 1})->front().remaining;
    }

    static std::string call(const std::string& arguments) {
        return "select allow::text from sluice.allow(" + arguments + ") allow";
    }

    std::unique_ptr<Connection> owner_;
    std::unique_ptr<PostgresLimitsOn> store_;
};

TEST_F(SqlAllow, DecidesAsANodeDoes) {
    const auto session = client();

    EXPECT_EQ(ask(*session, call("'a', 'gold', 4")), "(t,gold,6,00:00:00)");
    EXPECT_EQ(ask(*session, call("'a', 'gold', 0")), "(t,gold,6,00:00:00)");
    EXPECT_EQ(left("a", kGold), 6);
    EXPECT_EQ(ask(*session, call("'a', 'gold', 7")), "(f,gold,6,00:00:01)");
    EXPECT_EQ(ask(*session, call("key => 'a', plan => 'gold'")), "(t,gold,5,00:00:00)");
    set_limit_clock(*owner_, kMidnight + 1'500'000us);
    EXPECT_EQ(ask(*session, call("'a', 'gold', 8")), "(f,gold,6,00:00:01.5)");
    EXPECT_EQ(ask(*session, call("'b', 'places', 2")), "(t,places,0,00:00:00)");
    EXPECT_EQ(ask(*session, call("'b', 'places'")), "(f,places,0,00:01:00)");
    EXPECT_EQ(ask(*session, call("'a', 'trial'")), "(t,trial,0,00:00:00)");
    EXPECT_EQ(ask(*session, call("'a', 'trial'")), "(t,trial,0,00:00:58.5)");
    EXPECT_EQ(ask(*session,
                  "select string_agg(key, ' ') from json_object_keys((select row_to_json(a) from"
                  " sluice.allow('z', 'gold') a)) key"),
              "allowed plan remaining retry_after");
}

TEST_F(SqlAllow, FollowsOverrides) {
    ASSERT_TRUE((*store_)->put_override("a", kGold, {bucket(100, 1, 1h), kMidnight + 1min}));

    EXPECT_EQ(ask(*client(), call("'a', 'gold', 60")), "(t,gold,40,00:00:00)");
}

TEST_F(SqlAllow, ATransactionThatRollsBackLeavesNothingCharged) {
    const auto session = client();
    ask(*session, call("'known', 'gold', 3"));

    ask(*session, "begin");
    ask(*session, call("'known', 'gold', 4"));
    ask(*session, call("'new', 'gold', 4"));
    ask(*session, "rollback");

    EXPECT_EQ(left("known", kGold), 7);
    EXPECT_EQ(left("new", kGold), 10);
    EXPECT_EQ(ask(*owner_, "select count(*) from sluice.limit_state"), "1");
}

TEST_F(SqlAllow, AKeyThatAnOpenTransactionChargedIsContendedForOthers) {
    const auto holder = client();
    const auto session = client();
    PostgresLimitOptions hasty = PostgresLimitsOn::patient();
    hasty.key_wait = 50ms;
    PostgresLimitsOn node{dsn(), hasty};
    const Plan* const gold = &kGold;
    const std::array<Check, 2> checks{Check{"a", {&gold, 1}, 1}, Check{"b", {&gold, 1}, 1}};
    std::array<CheckOutcome, 2> outcomes{Verdict{}, Verdict{}};
    ask(*holder, "begin");
    ask(*holder, call("'a', 'gold'"));

    EXPECT_EQ(state_of(*session, call("'a', 'gold'")), "SL409");
    node->take(checks, outcomes);

    EXPECT_EQ(outcomes[0].error(), LimitFault::Contended);
    EXPECT_EQ(outcomes[1]->remaining, 9);
    ask(*holder, "commit");
    EXPECT_EQ(left("a", kGold), 9);
}

TEST_F(SqlAllow, OfTwoTransactionsThatWaitForEachOtherOneIsContended) {
    const auto first = client();
    const auto second = client();
    ask(*first, "begin");
    ask(*second, "begin");
    ask(*first, call("'a', 'gold'"));
    ask(*second, call("'b', 'gold'"));

    auto waiting = std::async(std::launch::async, [&] {
        std::string state = state_of(*first, call("'b', 'gold'"));
        ask(*first, state.empty() ? "commit" : "rollback");
        return state;
    });
    const std::string state = state_of(*second, call("'a', 'gold'"));
    ask(*second, state.empty() ? "commit" : "rollback");

    const std::array states{state, waiting.get()};
    EXPECT_THAT(states, testing::UnorderedElementsAre("", "SL409"));
    EXPECT_EQ(left("a", kGold) + left("b", kGold), 18);
}

// As the sweeper does with an idle key, between the moment the call finds it and the moment it gets its lock.
TEST_F(SqlAllow, BringsAKeyAgainThatIsRemovedInFrontOfIt) {
    ask(*client(), call("'a', 'gold', 4"));
    ask(*owner_, "begin");
    ask(*owner_, "select 1 from sluice.limit_state for update");
    const auto session = client();
    auto waiting = std::async(std::launch::async, [&] { return ask(*session, call("'a', 'gold'")); });
    await(*owner_, kWaiting, "1");

    ask(*owner_, "delete from sluice.limit_state");
    ask(*owner_, "commit");

    EXPECT_EQ(waiting.get(), "(t,gold,9,00:00:00)");
    EXPECT_EQ(left("a", kGold), 9);
}

TEST_F(SqlAllow, UnderRepeatableReadAKeyThatOthersChargedMeanwhileFails) {
    const auto session = client();
    ask(*session, "begin isolation level repeatable read");
    ask(*session, call("'other', 'gold'"));
    ask(*client(), call("'a', 'gold'"));

    EXPECT_EQ(state_of(*session, call("'a', 'gold'")), "40001");
}

TEST_F(SqlAllow, FailuresAreToldBySqlState) {
    const auto session = client();

    EXPECT_EQ(state_of(*session, call("'a', 'nowhere'")), "SL404");
    for (const char* wrong :
         {"'', 'gold'", "null, 'gold'", "repeat('x', 257), 'gold'", "repeat('\xC3\xA4', 129), 'gold'",
          "'a', null", "'a', 'gold', -1", "'a', 'gold', null", "'a', 'gold', 11"}) {
        EXPECT_EQ(state_of(*session, call(wrong)), "SL400") << wrong;
    }
    EXPECT_EQ(state_of(*session, call("repeat('x', 256), 'gold'")), "");
    EXPECT_EQ(ask(*owner_, "select count(*) from sluice.limit_state where state is not null"), "1");
}

TEST_F(SqlAllow, AHostileSearchPathChangesNothing) {
    ask(*owner_, "create schema trap");
    ask(*owner_,
        "create function trap.convert_to(text, name) returns bytea language plpgsql as"
        " $$ begin raise exception 'trapped'; end $$");
    ask(*owner_,
        "create function trap.array_fill(anyelement, integer[]) returns anyarray language plpgsql as"
        " $$ begin raise exception 'trapped'; end $$");
    ask(*owner_, "grant usage on schema trap to sluice_client");
    const auto session = client();
    ask(*session, "create temporary table limit_state (limit_key bytea)");
    ask(*session, "create temporary table plan (name text)");
    ask(*session, "set search_path = trap, pg_temp, pg_catalog");

    EXPECT_EQ(state_of(*session, call("'a', 'gold'")), "");

    EXPECT_EQ(left("a", kGold), 9);
    ask(*owner_, "drop schema trap cascade");
}

TEST_F(SqlAllow, KnowsThePlansThatWerePublishedLast) {
    const Plan tighter = plan("gold", bucket(2, 1, 1s));
    const std::array plans{&tighter};

    ASSERT_TRUE((*store_)->publish_plans(plans));

    EXPECT_EQ(ask(*client(), call("'a', 'gold'")), "(t,gold,1,00:00:00)");
    EXPECT_EQ(state_of(*client(), call("'a', 'places'")), "SL404");
    EXPECT_EQ(ask(*owner_, "select algorithm from sluice.plan"), "token_bucket");
    ASSERT_TRUE((*store_)->publish_plans({}));
    EXPECT_EQ(state_of(*client(), call("'a', 'gold'")), "SL404");
}

}  // namespace
}  // namespace sluice::test
