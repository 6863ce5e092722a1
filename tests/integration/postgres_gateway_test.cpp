#include "support/postgres_gateway.hpp"

#include <future>
#include <latch>
#include <thread>

#include <gmock/gmock.h>

#include "base/random.hpp"
#include "support/gateway_words.hpp"

// What the store of the gateway keeps in PostgreSQL, and what it does when others are there too.
namespace sluice::test {
namespace {

using postgres::Connection;
using Given = Reserved::Verdict;

class PostgresGateway : public PostgresTest {
protected:
    PostgresGateway() : PostgresTest{Furnished::WithSlots} {}

    void SetUp() override {
        PostgresTest::SetUp();
        if (!IsSkipped()) {
            session_ = connect();
        }
    }

    static std::vector<ReserveReply> reserve_all(GatewayStore& store, const std::vector<MessageDraft>& drafts,
                                                 Handover handover = Handover::Publisher) {
        static std::atomic<std::size_t> drawn{0};
        std::vector<SendRequest> requests;
        for (const MessageDraft& draft : drafts) {
            requests.push_back({draft, message_id(++drawn)});
        }
        return store.reserve(requests, handover);
    }
    static ReserveReply reserve(GatewayStore& store, const MessageDraft& draft,
                                Handover handover = Handover::Publisher) {
        return reserve_all(store, {draft}, handover).front();
    }
    static void settle(GatewayStore& store, const Reserved& reserved, Published outcome, UserId user = kAnn) {
        const MessageSettlement one{*reserved.id, user, reserved.window_start, outcome};
        ASSERT_TRUE(store.settle({&one, 1}));
    }
    static std::size_t count(const std::vector<ReserveReply>& replies, Given verdict) {
        return static_cast<std::size_t>(std::ranges::count_if(
            replies, [&](const ReserveReply& reply) { return reply && reply->verdict == verdict; }));
    }
    static std::int32_t counted(GatewayStore& store, UserId user = kAnn) {
        return store.find_user(user).value().value().count;
    }

    // What a lot of threads get, half of them from each of two stores, all at once.
    template <class Call>
    static std::vector<ReserveReply> from_both(GatewayStore& first, GatewayStore& second, int threads,
                                               const Call& call) {
        std::vector<ReserveReply> replies(static_cast<std::size_t>(threads),
                                          Unexpected{GatewayFault{GatewayFault::Kind::Unknown}});
        std::latch ready{threads};
        {
            std::vector<std::jthread> senders;
            for (int i = 0; i < threads; ++i) {
                senders.emplace_back([&, i] {
                    ready.arrive_and_wait();
                    replies[static_cast<std::size_t>(i)] = call(i % 2 == 0 ? first : second, i);
                });
            }
        }
        return replies;
    }

    void hold(UserId user) {
        ask(*session_, "begin");
        ask(*session_, "select 1 from \"PostgresEntity\" where \"userId\" = " + std::to_string(user.number) +
                           " for update");
    }

    std::unique_ptr<Connection> session_;
};

TEST_F(PostgresGateway, GivesTheLastPlaceToOneOfTwoHundredSendersOnTwoNodes) {
    PostgresGatewayOn first{dsn()};
    PostgresGatewayOn second{dsn()};
    ASSERT_TRUE(first->put_user(kAnn, {1, 5}));

    const auto replies = from_both(*first, *second, 200,
                                   [](GatewayStore& store, int) { return reserve(store, message(kAnn)); });

    EXPECT_EQ(count(replies, Given::Granted), 1U);
    EXPECT_EQ(count(replies, Given::Denied), 199U);
    EXPECT_EQ(counted(*first), 1);
}

TEST_F(PostgresGateway, BatchesOfManyUsersFromTwoNodesNeitherExceedALimitNorWaitInACircle) {
    PostgresGatewayOn first{dsn()};
    PostgresGatewayOn second{dsn()};
    constexpr std::int32_t kUsers = 20;
    constexpr std::int32_t kLimit = 30;
    for (std::int32_t user = 0; user < kUsers; ++user) {
        ASSERT_TRUE(first->put_user({user}, {kLimit, 5}));
    }
    std::vector<std::atomic<int>> granted(kUsers);

    from_both(*first, *second, 16, [&](GatewayStore& store, int seed) {
        Random random{static_cast<std::uint64_t>(seed)};
        for (int turn = 0; turn < 10; ++turn) {
            std::vector<MessageDraft> drafts;
            for (int i = 0; i < 16; ++i) {
                drafts.push_back(message({static_cast<std::int32_t>(random.below(kUsers))}));
            }
            const auto replies = reserve_all(store, drafts);
            for (std::size_t i = 0; i < drafts.size(); ++i) {
                EXPECT_TRUE(replies[i]) << replies[i].error().what;
                granted[static_cast<std::size_t>(drafts[i].user.number)] +=
                    replies[i] && replies[i]->verdict == Given::Granted ? 1 : 0;
            }
        }
        return reserve(store, message(kBob));
    });

    for (std::int32_t user = 0; user < kUsers; ++user) {
        if (user == kBob.number) {
            continue;  // He was asked for once more by each.
        }
        EXPECT_LE(granted[static_cast<std::size_t>(user)], kLimit);
        EXPECT_EQ(counted(*first, {user}), granted[static_cast<std::size_t>(user)]);
    }
}

TEST_F(PostgresGateway, ARequestThatTwoNodesGetAtOnceIsOneMessageAndCountedOnce) {
    PostgresGatewayOn first{dsn()};
    PostgresGatewayOn second{dsn()};
    ASSERT_TRUE(first->put_user(kAnn, {10, 5}));

    const auto replies =
        from_both(*first, *second, 40, [](GatewayStore& store, int) { return reserve(store, named("r")); });

    EXPECT_EQ(count(replies, Given::Granted), 1U);
    EXPECT_EQ(count(replies, Given::Standing), 39U);
    for (const ReserveReply& reply : replies) {
        EXPECT_EQ(reply->id, replies.front()->id);
    }
    EXPECT_EQ(counted(*first), 1);
    EXPECT_EQ(ask(*session_, "select count(*) from sluice.gateway_message"), "1");
}

TEST_F(PostgresGateway, AUserWhoseRowAnotherTransactionHoldsIsUnavailableAlone) {
    PostgresGatewayOn store{dsn(), PostgresGatewayOn::hasty()};
    for (const UserId user : {kAnn, kBob, UserId{500}}) {
        ASSERT_TRUE(store->put_user(user, {5, 5}));
    }
    hold(kAnn);

    const auto replies =
        reserve_all(*store, {message(kBob), message(kAnn), message({500}), message({600}), message(kBob)});

    EXPECT_EQ(count(replies, Given::Granted), 3U);
    ASSERT_FALSE(replies[1]);
    EXPECT_EQ(replies[1].error().kind, GatewayFault::Kind::Unavailable);
    EXPECT_EQ(replies[3]->verdict, Given::UnknownUser);
    EXPECT_TRUE(store->available());
    ask(*session_, "commit");
    EXPECT_EQ(counted(*store), 0);
    EXPECT_EQ(counted(*store, kBob), 2);
}

TEST_F(PostgresGateway, AMessageThatAnotherTransactionHoldsIsUnavailableAlone) {
    PostgresGatewayOn store{dsn(), PostgresGatewayOn::hasty()};
    ASSERT_TRUE(store->put_user(kAnn, {5, 5}));
    ASSERT_TRUE(reserve(*store, named("held")));
    const auto other = reserve(*store, named("other"));
    const auto held = reserve(*store, named("held"));
    ask(*session_, "begin");
    ask(*session_,
        "select 1 from sluice.gateway_message where message_id = '" + held->id->text() + "' for update");

    const auto replies = reserve_all(*store, {named("held"), named("other"), message(kAnn)});
    const std::array settlements{
        MessageSettlement{*held->id, kAnn, held->window_start, Published::Acknowledged},
        MessageSettlement{*other->id, kAnn, other->window_start, Published::Acknowledged}};
    const auto settled = store->settle(settlements);

    ASSERT_FALSE(replies[0]);
    EXPECT_EQ(replies[0].error().kind, GatewayFault::Kind::Unavailable);
    EXPECT_EQ(replies[1]->verdict, Given::Standing);
    EXPECT_EQ(replies[2]->verdict, Given::Granted);
    EXPECT_FALSE(settled);
    ask(*session_, "commit");
    EXPECT_EQ(reserve(*store, named("other"))->verdict, Given::Accepted);
    EXPECT_EQ(reserve(*store, named("held"))->verdict, Given::Standing);
}

TEST_F(PostgresGateway, GivesNothingBackToAUserWhoseRowIsHeldAndSettlesTheOthers) {
    PostgresGatewayOn store{dsn(), PostgresGatewayOn::hasty()};
    ASSERT_TRUE(store->put_user(kAnn, {5, 5}));
    ASSERT_TRUE(store->put_user(kBob, {5, 5}));
    const auto ann = reserve(*store, message(kAnn));
    const auto bob = reserve(*store, message(kBob));
    hold(kAnn);

    const std::array settlements{
        MessageSettlement{*ann->id, kAnn, ann->window_start, Published::NotPublished},
        MessageSettlement{*bob->id, kBob, bob->window_start, Published::NotPublished}};
    const auto settled = store->settle(settlements);

    EXPECT_FALSE(settled);
    ask(*session_, "commit");
    EXPECT_EQ(counted(*store, kBob), 0);
    EXPECT_EQ(counted(*store, kAnn), 1);
    EXPECT_EQ(store->find_message(*ann->id).value()->state, MessageState::Queued);
}

TEST_F(PostgresGateway, GivesBackToNoWindowThatBeganInTheSameMillisecond) {
    PostgresGatewayOn store{dsn()};
    set_server_clock(*session_, kNoon);
    ASSERT_TRUE(store->put_user(kAnn, {5, 5}));
    const auto of_the_first = reserve(*store, message(kAnn));
    const auto retried = reserve(*store, named("r"));
    ASSERT_TRUE(store->put_user(kAnn, {5, 5}));
    ASSERT_TRUE(reserve(*store, message(kAnn)));
    ASSERT_EQ(reserve(*store, named("r"))->verdict, Given::Granted);

    settle(*store, *of_the_first, Published::NotPublished);
    settle(*store, *retried, Published::NotPublished);

    EXPECT_EQ(counted(*store), 2);
    EXPECT_EQ(store->find_user(kAnn).value()->start, kNoon);
}

TEST_F(PostgresGateway, GoesByTheServersClockAtWhichItGotTheUser) {
    PostgresGatewayOn store{dsn()};
    set_server_clock(*session_, kNoon);
    ASSERT_TRUE(store->put_user(kAnn, {1, 5}));
    ASSERT_EQ(reserve(*store, message(kAnn))->verdict, Given::Granted);
    set_server_clock(*session_, kNoon + 5min - 1ms);
    EXPECT_EQ(reserve(*store, message(kAnn))->retry_after, 1ms);
    hold(kAnn);
    auto waits = std::async(std::launch::async, [&] { return reserve(*store, message(kAnn)); });
    await(*session_, kWaiting, "1");

    set_server_clock(*session_, kNoon + 5min);
    ask(*session_, "commit");

    EXPECT_EQ(waits.get()->verdict, Given::Granted);
    EXPECT_EQ(store->find_user(kAnn).value()->start, kNoon + 5min);
    EXPECT_EQ(counted(*store), 1);
}

TEST_F(PostgresGateway, CountsABatchByOneStatement) {
    PostgresGatewayOn store{dsn()};
    for (std::int32_t user = 0; user < 10; ++user) {
        ASSERT_TRUE(store->put_user({user}, {5, 5}));
    }
    ask(*session_,
        "create sequence statements;"
        "create function note() returns trigger language plpgsql as"
        " $$ begin perform nextval('public.statements'); return null; end $$;"
        "create trigger note after insert or update or delete on \"PostgresEntity\""
        " for each statement execute function note();");
    std::vector<MessageDraft> drafts;
    for (std::int32_t i = 0; i < 60; ++i) {
        drafts.push_back(message({i % 10}));
    }

    const auto replies = reserve_all(*store, drafts);

    EXPECT_EQ(count(replies, Given::Granted), 50U);
    EXPECT_EQ(ask(*session_, "select last_value from statements where is_called"), "1");
    ASSERT_EQ(count(reserve_all(*store, drafts), Given::Denied), 60U);
    EXPECT_EQ(ask(*session_, "select last_value from statements"), "1");  // Nothing granted, nothing written.
    ask(*session_, "drop function note cascade; drop sequence statements");
}

TEST_F(PostgresGateway, SplitsWhatIsMoreThanABatch) {
    auto options = PostgresGatewayOn::patient();
    options.batch_max = 3;
    PostgresGatewayOn store{dsn(), options};
    ASSERT_TRUE(store->put_user(kAnn, {4, 5}));

    const auto replies = reserve_all(*store, std::vector<MessageDraft>(7, message(kAnn)));

    ASSERT_EQ(replies.size(), 7U);
    for (std::size_t i = 0; i < replies.size(); ++i) {
        EXPECT_EQ(replies[i]->verdict, i < 4 ? Given::Granted : Given::Denied) << i;
    }
}

// What an application's row may hold that nobody could have set here.
TEST_F(PostgresGateway, ARowThatIsNoWindowHarmsNobodyElse) {
    PostgresGatewayOn store{dsn(), PostgresGatewayOn::hasty()};
    ASSERT_TRUE(store->put_user(kBob, {5, 5}));
    ask(*session_,
        "insert into \"PostgresEntity\" values (1, 5, 5, 0, 'infinity'), (2, 5, 5, 0, '-infinity'),"
        " (3, 5, 0, 0, now()), (4, 5, -1, 0, now()), (5, 0, 5, 0, now()), (6, 5, 5, -7, now()),"
        " (8, 2147483647, 2147483647, 2147483646, now()), (9, 5, 5, 0, '294276-01-01Z')");
    std::vector<MessageDraft> drafts;
    for (const int user : {1, 2, 3, 4, 5, 6, 7, 8, 8, 9}) {
        drafts.push_back(message({user}));
    }

    const auto replies = reserve_all(*store, drafts);

    for (const std::size_t broken : {0, 1, 2, 3, 9}) {
        EXPECT_FALSE(replies[broken]) << broken;
        EXPECT_FALSE(store->find_user(drafts[broken].user)) << broken;
    }
    EXPECT_EQ(replies[4]->verdict, Given::Denied);
    EXPECT_EQ(replies[5]->verdict, Given::Granted);
    EXPECT_EQ(counted(*store, {6}), 1);
    EXPECT_EQ(replies[6]->verdict, Given::Granted);
    EXPECT_EQ(replies[7]->verdict, Given::Granted);
    EXPECT_EQ(replies[8]->verdict, Given::Denied);
    ASSERT_TRUE(store->put_user({1}, {5, 5}));  // The way out.
    EXPECT_EQ(reserve(*store, message({1}))->verdict, Given::Granted);
}

TEST_F(PostgresGateway, ForgetsRequestsAfterADayAndMessagesAfterAWeek) {
    PostgresGatewayOn store{dsn()};
    set_server_clock(*session_, kNoon);
    ASSERT_TRUE(store->put_user(kAnn, {1'000'000, 5}));
    ask(*session_,
        "insert into sluice.gateway_message select 'old' || i, 101, 0, "
        "sluice.from_ms(sluice.gateway_clock()),"
        " now(), now(), 1, false, null from generate_series(1, 2500) as i");
    ask(*session_,
        "insert into sluice.gateway_request select 101, 'old' || i, 'old' || i,"
        " sluice.from_ms(sluice.gateway_clock()) from generate_series(1, 2500) as i");
    set_server_clock(*session_, kNoon + 24h - 1ms);
    const auto young = reserve(*store, named("young"));
    ask(*session_, "begin");
    ask(*session_, "select 1 from sluice.gateway_message where message_id = 'old7' for update");
    const auto left = [&] {
        return ask(*connect(),
                   "select (select count(*) from sluice.gateway_request) || ' ' ||"
                   " (select count(*) from sluice.gateway_message)");
    };
    const auto sweeper = connect();
    const std::string sweep = "select sluice.sweep_gateway(1000)";

    EXPECT_EQ(ask(*sweeper, sweep), "0");
    set_server_clock(*session_, kNoon + 24h);
    EXPECT_EQ(ask(*sweeper, sweep), "1000");
    EXPECT_EQ(left(), "1501 2501");
    EXPECT_EQ(ask(*sweeper, sweep), "1000");
    EXPECT_EQ(ask(*sweeper, sweep), "500");
    EXPECT_EQ(left(), "1 2501");
    set_server_clock(*session_, kNoon + 24h * 7);
    {
        const PostgresGatewayOn node{dsn()};  // One that starts sweeps at once.
        await(*connect(), "select count(*) from sluice.gateway_message", "2");  // The young, and the held.
    }

    EXPECT_EQ(store->find_message(*young->id).value()->user, kAnn);
    ask(*session_, "commit");
    EXPECT_EQ(ask(*sweeper, sweep), "1");
}

class PostgresGatewayTable : public PostgresTest {
protected:
    // What is said of a table that is there before Sluice is.
    std::string complaint_of(const std::string& sql) {
        const FreshDatabase fresh;
        ask(*test::connect(fresh.dsn()), sql);
        try {
            const PostgresGatewayOn store{fresh.dsn()};
            return "";
        } catch (const std::runtime_error& error) {
            return error.what();
        }
    }
};

TEST_F(PostgresGatewayTable, ThatExistsIsUsedWithItsRowsAndFurtherColumns) {
    const auto session = connect();
    ask(*session,
        "create table \"PostgresEntity\" (no text default 'x', \"lastRefreshTime\" timestamptz(6) not null,"
        " \"userId\" integer not null, \"currentCount\" integer not null, \"rateLimit\" integer not null,"
        " \"timeWindow\" integer not null, primary key (\"userId\"));"
        "insert into \"PostgresEntity\" (\"userId\", \"rateLimit\", \"timeWindow\", \"currentCount\","
        " \"lastRefreshTime\") values (101, 3, 60, 2, now() - interval '1.2345678 s')");
    PostgresGatewayOn store{dsn()};
    const std::array<MessageDraft, 2> drafts{message(kAnn), message(kAnn)};
    const std::array requests{SendRequest{drafts[0], message_id("a")},
                              SendRequest{drafts[1], message_id("b")}};

    const auto replies = store->reserve(requests, Handover::Publisher);

    ASSERT_EQ(replies[0]->verdict, Given::Granted);
    EXPECT_EQ(replies[1]->verdict, Given::Denied);
    const MessageSettlement back{*replies[0]->id, kAnn, replies[0]->window_start, Published::NotPublished};
    ASSERT_TRUE(store->settle({&back, 1}));
    EXPECT_EQ(store->find_user(kAnn).value()->count, 2);
    ASSERT_TRUE(store->put_user(kBob, {1, 1}));
    EXPECT_EQ(ask(*session, "select no from \"PostgresEntity\" where \"userId\" = 7"), "x");
}

TEST_F(PostgresGatewayTable, ThatIsAnotherIsRefusedInOneSentence) {
    const std::string rest = " \"timeWindow\" int, \"currentCount\" int, \"lastRefreshTime\" timestamptz";
    EXPECT_EQ(
        complaint_of("create table \"PostgresEntity\" (\"userId\" int primary key," + rest + ")"),
        "table public.\"PostgresEntity\" cannot be used by the gateway: it has no column \"rateLimit\"");
    EXPECT_EQ(
        complaint_of("create table \"PostgresEntity\" (\"userId\" int primary key, \"rateLimit\" bigint," +
                     rest + ")"),
        "table public.\"PostgresEntity\" cannot be used by the gateway: column \"rateLimit\" is of type "
        "bigint "
        "and must be integer");
    EXPECT_EQ(
        complaint_of("create table \"PostgresEntity\" (\"userId\" int, \"rateLimit\" int," + rest + ")"),
        "table public.\"PostgresEntity\" cannot be used by the gateway: \"userId\" is not its primary key");
    EXPECT_EQ(
        complaint_of("create table \"PostgresEntity\" (\"userId\" int primary key, \"rateLimit\" int,"
                     " tenant int not null," +
                     rest + ")"),
        "table public.\"PostgresEntity\" cannot be used by the gateway: nobody would fill its column tenant");
}

}  // namespace
}  // namespace sluice::test
