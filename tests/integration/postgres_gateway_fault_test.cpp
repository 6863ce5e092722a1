#include <future>

#include <gmock/gmock.h>

#include "support/gateway_words.hpp"
#include "support/postgres_gateway.hpp"
#include "support/tcp_proxy.hpp"

// The store of the gateway on a server that fails: what it says is true, and it goes on by itself.
namespace sluice::test {
namespace {

using Kind = GatewayFault::Kind;

class PostgresGatewayFault : public PostgresTest {
protected:
    PostgresGatewayFault() : PostgresTest{Furnished::WithSlots} {}

    static ReserveReply reserve(GatewayStore& store, const MessageDraft& draft) {
        const SendRequest request{draft, message_id("m")};
        return store.reserve({&request, 1}, Handover::Publisher).front();
    }

    // Waits until the store answers again.
    static void await_recovery(GatewayStore& store) {
        const auto deadline = std::chrono::steady_clock::now() + 20s;
        while (!store.available() || !reserve(store, message({600}))) {
            ASSERT_LT(std::chrono::steady_clock::now(), deadline);
            std::this_thread::yield();
        }
    }

    // Gives up on a silent server soon.
    [[nodiscard]] postgres::ConnectSettings impatient(std::uint16_t port) const {
        auto settings = test_settings(with_port(dsn(), port));
        settings.connect_timeout = 2s;
        settings.statement_timeout = 500ms;
        settings.silence_margin = 300ms;
        return settings;
    }
};

TEST_F(PostgresGatewayFault, ASessionThatIsKilledInMidBatchLeavesNothingHalfDone) {
    PostgresGatewayOn store{dsn()};
    const auto session = connect();
    ASSERT_TRUE(store->put_user(kAnn, {5, 5}));
    ask(*session, "begin");
    ask(*session, "select 1 from \"PostgresEntity\" for update");
    auto waits = std::async(std::launch::async, [&] { return reserve(*store, named("r")); });
    await(*session, kWaiting, "1");

    ask(*session,
        "select pg_terminate_backend(pid) from pg_stat_activity"
        " where datname = current_database() and wait_event_type = 'Lock'");
    const auto reply = waits.get();
    ask(*session, "commit");

    ASSERT_FALSE(reply);
    EXPECT_NE(reply.error().kind, Kind::Full);
    await_recovery(*store);
    EXPECT_EQ(store->find_user(kAnn).value()->count, 0);
    EXPECT_EQ(reserve(*store, named("r"))->verdict, Reserved::Verdict::Granted);
}

TEST_F(PostgresGatewayFault, WhatMayHaveBeenStoredIsUnknownAndKnownToTheRetry) {
    TcpProxy proxy{port_of(dsn())};
    PostgresGatewayOn store{with_port(dsn(), proxy.port())};
    ASSERT_TRUE(store->put_user(kAnn, {5, 5}));
    proxy.cut_after("reserve_messages");

    const auto reply = reserve(*store, named("r"));

    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().kind, Kind::Unknown);
    await_recovery(*store);
    EXPECT_EQ(reserve(*store, named("r"))->verdict, Reserved::Verdict::Standing);
    EXPECT_EQ(store->find_user(kAnn).value()->count, 1);
}

TEST_F(PostgresGatewayFault, AServerThatIsGoneIsUnavailableAtOnceAndComesBack) {
    TcpProxy proxy{port_of(dsn())};
    PostgresGatewayOn store{with_port(dsn(), proxy.port())};
    ASSERT_TRUE(store->put_user(kAnn, {5, 5}));
    proxy.down();
    const auto session = connect();

    auto reply = reserve(*store, message(kAnn));
    const auto deadline = std::chrono::steady_clock::now() + 20s;
    while (reply.error().kind != Kind::Unavailable && std::chrono::steady_clock::now() < deadline) {
        reply = reserve(*store, message(kAnn));
    }

    EXPECT_EQ(reply.error().kind, Kind::Unavailable);
    EXPECT_FALSE(store->available());
    EXPECT_FALSE(store->find_user(kAnn));
    EXPECT_FALSE(store->put_user(kAnn, {1, 1}));
    EXPECT_FALSE(store->outbox().waiting(10));
    const auto last = store->outbox().time();
    EXPECT_EQ(store->outbox().time(), last);
    proxy.up();
    await_recovery(*store);
    EXPECT_EQ(reserve(*store, message(kAnn))->verdict, Reserved::Verdict::Granted);
}

TEST_F(PostgresGatewayFault, AFrozenServerIsGivenUpInTime) {
    TcpProxy proxy{port_of(dsn())};
    PostgresGatewayOn store{impatient(proxy.port()), PostgresGatewayOn::hasty()};
    ASSERT_TRUE(store->put_user(kAnn, {5, 5}));
    proxy.freeze();
    const auto began = std::chrono::steady_clock::now();

    const auto reply = reserve(*store, message(kAnn));

    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().kind, Kind::Unknown);
    EXPECT_LT(std::chrono::steady_clock::now() - began, 8s);
    proxy.thaw();
    await_recovery(*store);
}

TEST_F(PostgresGatewayFault, ACommitThatNoStandbyConfirmedIsUnknown) {
    OwnServer server;  // The setting is the whole server's.
    PostgresGatewayOn store{server.dsn()};
    const auto other = test::connect(server.dsn());
    ASSERT_TRUE(store->put_user(kAnn, {1000, 5}));
    ask(*other, "alter system set synchronous_standby_names = 'nobody'");
    ask(*other, "select pg_reload_conf()");
    // Commits wait from when the checkpointer has read the setting.
    auto running = std::async(std::launch::async, [&] {
        for (int i = 0; i < 500; ++i) {
            if (auto reply = reserve(*store, message(kAnn)); !reply) {
                return reply;
            }
        }
        return reserve(*store, message(kAnn));
    });
    const std::string waits =
        "select count(*) from pg_stat_activity where wait_event = 'SyncRep' and query ~ 'reserve_messages'";
    await(*other, waits, "1");

    ask(*other, "select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'");

    const auto reply = running.get();
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().kind, Kind::Unknown);
    ask(*other, "alter system reset synchronous_standby_names");
    ask(*other, "select pg_reload_conf()");
    await_recovery(*store);
}

TEST_F(PostgresGatewayFault, AServerThatTakesNoWritesIsNotAvailableUntilItDoes) {
    PostgresGatewayOn store{dsn()};
    const auto session = connect();
    ASSERT_TRUE(store->put_user(kAnn, {5, 5}));
    ask(*session, "alter table sluice.gateway_message add constraint broken check (false) not valid");

    EXPECT_EQ(reserve(*store, message(kAnn)).error().kind, Kind::Unavailable);

    ask(*session, "alter table sluice.gateway_message drop constraint broken");
    await_recovery(*store);
    EXPECT_EQ(store->find_user(kAnn).value()->count, 0);
}

}  // namespace
}  // namespace sluice::test
