#include <csignal>
#include <future>

#include "store/postgres/client/connection.hpp"
#include "support/postgres_fixture.hpp"
#include "support/tcp_proxy.hpp"

namespace sluice::postgres {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::ask;
using test::TcpProxy;

constexpr Statement kBegin{"begin", "begin"};
constexpr Statement kInsert{"insert", "insert into thing (id) values ($1::int8)"};
// Named so that the proxy can tell it: "committed" is among the options of the session.
constexpr Statement kCommit{"finish", "commit"};
constexpr Statement kPid{"pid", "select pg_backend_pid()"};
constexpr Statement kSleep{"sleep", "select pg_sleep(20)"};

constexpr const char* kTable = "create table thing (id int8 primary key)";

using PostgresFault = test::PostgresTest;

Parameters number(std::int64_t value) { return Parameters{}.add(value); }

// Gives up on a silent server soon.
ConnectSettings impatient(const std::string& dsn) {
    auto settings = test::test_settings(dsn);
    settings.connect_timeout = seconds{2};
    settings.statement_timeout = milliseconds{300};
    settings.lock_timeout = milliseconds{100};
    settings.silence_margin = milliseconds{300};
    return settings;
}

// Runs a script until it gives this text: for what another session is about to do.
void await(Connection& connection, const std::string& sql, const std::string& text) {
    const auto deadline = std::chrono::steady_clock::now() + seconds{20};
    while (ask(connection, sql) != text) {
        ASSERT_LT(std::chrono::steady_clock::now(), deadline) << sql;
        std::this_thread::yield();
    }
}

TEST_F(PostgresFault, AnIdleConnectionThatTheServerClosedLeavesNoDoubt) {
    const auto connection = connect();
    const auto other = connect();
    const auto pid = connection->run(kPid);
    ask(*other, kTable);
    ask(*other, "select pg_terminate_backend(" + std::string{pid->text(0, 0)} + ", 20000)");

    const auto inserted = connection->run(kInsert, number(1));

    ASSERT_FALSE(inserted);
    EXPECT_TRUE(inserted.error().connection_lost);
    EXPECT_FALSE(inserted.error().outcome_unknown);
    EXPECT_TRUE(inserted.error().retryable());
    EXPECT_FALSE(connection->usable());
    EXPECT_FALSE(connection->run_script("select 1"));
    EXPECT_FALSE(connection->wait(milliseconds{1}));
}

TEST_F(PostgresFault, AConnectionTerminatedInAStatementSaysWhy) {
    const auto connection = connect();
    const auto other = connect();
    auto running = std::async(std::launch::async, [&] { return connection->run(kSleep); });
    await(
        *other,
        "select count(*) from pg_stat_activity where query like '%pg_sleep(20)' and pid <> pg_backend_pid()",
        "1");
    ask(*other,
        "select pg_terminate_backend(pid) from pg_stat_activity "
        "where query like '%pg_sleep(20)' and pid <> pg_backend_pid()");

    const auto slept = running.get();

    ASSERT_FALSE(slept);
    EXPECT_EQ(slept.error().sqlstate, "57P01");
    EXPECT_TRUE(slept.error().connection_lost);
    EXPECT_TRUE(slept.error().outcome_unknown);
}

TEST_F(PostgresFault, AStatementTimeOutKeepsTheConnection) {
    auto connection = Connection::open(impatient(dsn()));
    ASSERT_TRUE(connection);

    const auto slept = (*connection)->run(kSleep);

    ASSERT_FALSE(slept);
    EXPECT_EQ(slept.error().sqlstate, "57014");
    EXPECT_TRUE(slept.error().retryable());
    EXPECT_FALSE(slept.error().outcome_unknown);
    EXPECT_TRUE((*connection)->usable());
}

TEST_F(PostgresFault, AFrozenServerIsGivenUp) {
    auto connection = Connection::open(impatient(dsn()));
    ASSERT_TRUE(connection);
    const auto pid = static_cast<pid_t>((*connection)->run(kPid)->number(0, 0).value_or(0));
    ASSERT_GT(pid, 1);
    ASSERT_EQ(::kill(pid, SIGSTOP), 0);
    (*connection)->queue(kBegin);
    (*connection)->queue(kPid);

    const auto start = std::chrono::steady_clock::now();
    const auto begun = (*connection)->flush();
    const auto took = std::chrono::steady_clock::now() - start;
    ::kill(pid, SIGCONT);

    ASSERT_FALSE(begun);
    EXPECT_TRUE(begun.error().connection_lost);
    EXPECT_FALSE(begun.error().outcome_unknown) << "an explicit transaction without COMMIT";
    EXPECT_GE(took, milliseconds{600});
    EXPECT_LT(took, seconds{20});
}

TEST_F(PostgresFault, AFrozenServerIsGivenUpAlsoInTheMidstOfABatch) {
    auto connection = Connection::open(impatient(dsn()));
    ASSERT_TRUE(connection);
    const auto pid = static_cast<pid_t>((*connection)->run(kPid)->number(0, 0).value_or(0));
    ASSERT_GT(pid, 1);
    ASSERT_EQ(::kill(pid, SIGSTOP), 0);
    constexpr Statement kEcho{"echo", "select $1::text"};
    for (int i = 0; i < 500; ++i) {
        (*connection)->queue(kEcho, Parameters{}.add(std::string(100'000, 'x')));
    }

    const auto outcomes = (*connection)->flush_each();
    ::kill(pid, SIGCONT);

    ASSERT_EQ(outcomes.size(), 500U);
    ASSERT_FALSE(outcomes.front());
    ASSERT_FALSE(outcomes.back());
    EXPECT_TRUE(outcomes.front().error().outcome_unknown);
    EXPECT_FALSE(outcomes.back().error().outcome_unknown) << "it was never sent";
}

TEST_F(PostgresFault, ConnectingToASilentServerEnds) {
    TcpProxy proxy{test::port_of(dsn())};
    proxy.freeze();

    const auto opened = Connection::open(impatient(test::with_port(dsn(), proxy.port())));

    ASSERT_FALSE(opened);
    EXPECT_TRUE(opened.error().connection_lost);
}

TEST_F(PostgresFault, ACommitWhoseAnswerIsLostIsUnknown) {
    TcpProxy proxy{test::port_of(dsn())};
    const auto direct = connect();
    ask(*direct, kTable);
    const auto insert_and_commit = [&](std::int64_t id) {
        const auto connection = test::connect(test::with_port(dsn(), proxy.port()));
        connection->queue(kBegin);
        connection->queue(kInsert, number(id));
        connection->queue(kCommit);
        return connection->flush();
    };

    proxy.cut_after("finish");
    const auto done = insert_and_commit(1);
    proxy.cut_before("finish");
    const auto undone = insert_and_commit(2);

    ASSERT_FALSE(done);
    ASSERT_FALSE(undone);
    EXPECT_TRUE(done.error().connection_lost && done.error().outcome_unknown);
    EXPECT_TRUE(undone.error().connection_lost && undone.error().outcome_unknown);
    EXPECT_EQ(ask(*direct, "select string_agg(id::text, ',') from thing"), "1");
}

TEST_F(PostgresFault, AStatementOfItsOwnWhoseAnswerIsLostIsUnknown) {
    TcpProxy proxy{test::port_of(dsn())};
    const auto direct = connect();
    ask(*direct, kTable);
    const auto connection = test::connect(test::with_port(dsn(), proxy.port()));
    proxy.cut_after("insert");

    const auto inserted = connection->run(kInsert, number(1));

    ASSERT_FALSE(inserted);
    EXPECT_TRUE(inserted.error().outcome_unknown);
    EXPECT_EQ(ask(*direct, "select count(*) from thing"), "1");
}

TEST_F(PostgresFault, WhatWasNotCommittedYetIsKnownToBeGone) {
    TcpProxy proxy{test::port_of(dsn())};
    ask(*connect(), kTable);
    const auto connection = test::connect(test::with_port(dsn(), proxy.port()));
    ASSERT_TRUE(connection->run(kBegin));
    proxy.cut_after("insert");

    const auto inserted = connection->run(kInsert, number(1));

    ASSERT_FALSE(inserted);
    EXPECT_TRUE(inserted.error().connection_lost);
    EXPECT_FALSE(inserted.error().outcome_unknown);
    EXPECT_EQ(ask(*connect(), "select count(*) from thing"), "0");
}

// Cancels the wait of whoever waits for a standby, once somebody does.
void cancel_the_wait_for_a_standby(Connection& other) {
    await(
        other,
        "select count(*) from pg_stat_activity where wait_event = 'SyncRep' and datname = current_database()",
        "1");
    ask(other,
        "select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep' and "
        "datname = current_database()");
}

TEST_F(PostgresFault, ACommitThatNoStandbyConfirmedIsUnknown) {
    test::OwnServer server;  // The setting is the whole server's.
    const auto connection = test::connect(server.dsn());
    const auto other = test::connect(server.dsn());
    ask(*other, kTable);
    ask(*other, "alter system set synchronous_standby_names = 'nobody'");
    ask(*other, "select pg_reload_conf()");
    await(*connection, "show synchronous_standby_names", "nobody");
    await(*other, "show synchronous_standby_names", "nobody");

    int inserted = 0;
    for (const bool explicitly : {false, true}) {
        const auto insert = [&]() -> Failure {
            if (!explicitly) {
                const auto ran = connection->run(kInsert, number(++inserted));
                return ran ? Failure{} : ran.error();
            }
            connection->queue(kBegin);
            connection->queue(kInsert, number(++inserted));
            connection->queue(kCommit);
            const auto flushed = connection->flush();
            return flushed ? Failure{} : flushed.error();
        };
        // Commits wait from when the checkpointer has read the setting, which is later than the sessions do.
        auto running = std::async(std::launch::async, [&] {
            const auto deadline = std::chrono::steady_clock::now() + seconds{20};
            auto failure = insert();
            while (failure.sqlstate.empty() && std::chrono::steady_clock::now() < deadline) {
                failure = insert();
            }
            return failure;
        });
        cancel_the_wait_for_a_standby(*other);
        const auto failure = running.get();

        EXPECT_TRUE(failure.outcome_unknown) << failure.message;
        EXPECT_FALSE(failure.connection_lost);
        EXPECT_TRUE(connection->usable());
    }
    EXPECT_EQ(ask(*other, "select count(*) from thing"), std::to_string(inserted));
}

TEST_F(PostgresFault, AWarningThatAFunctionRaisesIsNoDoubt) {
    const auto connection = connect();
    constexpr Statement kWarn{"warn", "select warn()"};
    ask(*connection,
        "create function warn() returns int language plpgsql as "
        "$$ begin raise warning 'mind the step'; return 1; end $$");

    EXPECT_TRUE(connection->run(kWarn));
}

}  // namespace
}  // namespace sluice::postgres
