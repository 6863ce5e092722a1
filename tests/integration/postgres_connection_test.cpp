#include <array>
#include <limits>

#include "store/postgres/client/connection.hpp"
#include "support/postgres_fixture.hpp"

namespace sluice::postgres {
namespace {

using std::chrono::milliseconds;
using test::ask;

constexpr Statement kSum{"sum", "select $1::int8 + $2::int8, $1::int8 < $2::int8, null::text"};
constexpr Statement kEcho{"echo", "select $1::text"};
constexpr Statement kUnnest{"unnest", "select value, value is null from unnest($1::text[]) value"};
constexpr Statement kNumbers{"numbers", "select value from unnest($1::int8[]) value"};
constexpr Statement kInsert{"insert", "insert into thing (id) values ($1::int8)"};
constexpr Statement kCount{"count", "select count(*) from thing"};
constexpr Statement kBegin{"begin", "begin"};
constexpr Statement kCommit{"commit", "commit"};
constexpr Statement kRollback{"rollback", "rollback"};
constexpr Statement kWrong{"wrong", "select no_such_column from thing"};

using PostgresConnection = test::PostgresTest;

Parameters number(std::int64_t value) { return Parameters{}.add(value); }

TEST_F(PostgresConnection, RunsAStatementWithParameters) {
    const auto connection = connect();

    for (int time = 0; time < 2; ++time) {  // Prepared, then known.
        const auto rows = connection->run(kSum, Parameters{}.add(40).add(2));

        ASSERT_TRUE(rows) << rows.error().message;
        ASSERT_EQ(rows->size(), 1U);
        EXPECT_EQ(rows->number(0, 0), 42);
        EXPECT_EQ(rows->boolean(0, 1), false);
        EXPECT_TRUE(rows->is_null(0, 2));
        EXPECT_FALSE(rows->number(0, 2).has_value());
        EXPECT_FALSE(rows->number(0, 1).has_value());
        EXPECT_FALSE(rows->boolean(0, 0).has_value());
    }
}

TEST_F(PostgresConnection, SetsUpItsSession) {
    const auto connection = connect();

    EXPECT_EQ(ask(*connection, "show application_name"), "sluice");
    EXPECT_EQ(ask(*connection, "show default_transaction_isolation"), "read committed");
    EXPECT_EQ(ask(*connection, "show statement_timeout"), "30s");
    EXPECT_EQ(ask(*connection, "show lock_timeout"), "20s");
    EXPECT_EQ(ask(*connection, "show idle_in_transaction_session_timeout"), "1min");
    EXPECT_EQ(ask(*connection, "show timezone"), "UTC");
    EXPECT_EQ(ask(*connection, "show tcp_keepalives_idle"), "10");
    EXPECT_EQ(ask(*connection, "show tcp_keepalives_interval"), "5");
    EXPECT_EQ(ask(*connection, "show tcp_keepalives_count"), "3");
    EXPECT_EQ(ask(*connection, "show tcp_user_timeout"), "31000");
    EXPECT_GE(connection->server_version(), 150000);
}

TEST_F(PostgresConnection, CarriesNastyTextsThroughArrays) {
    const auto connection = connect();
    const std::array<std::string_view, 13> texts{"",
                                                 " ",
                                                 "NULL",
                                                 "null",
                                                 "a,b",
                                                 "{x}",
                                                 "\"quoted\"",
                                                 "back\\slash",
                                                 "\\",
                                                 "\"",
                                                 "'",
                                                 "tab\there",
                                                 "ünïcödé\n\xF0\x9F\x98\x80"};

    const auto rows = connection->run(kUnnest, Parameters{}.add_text_array(texts));

    ASSERT_TRUE(rows) << rows.error().message;
    ASSERT_EQ(rows->size(), texts.size());
    for (std::size_t row = 0; row < texts.size(); ++row) {
        EXPECT_EQ(rows->text(row, 0), texts[row]);
        EXPECT_EQ(rows->boolean(row, 1), false);
    }
}

TEST_F(PostgresConnection, CarriesNullsAndNumbersThroughArrays) {
    const auto connection = connect();
    const std::array<std::int64_t, 3> numbers{std::numeric_limits<std::int64_t>::min(), 0,
                                              std::numeric_limits<std::int64_t>::max()};

    const auto counted = connection->run(kNumbers, Parameters{}.add_numbers(numbers));
    const auto none = connection->run(kNumbers, Parameters{}.add_numbers({}));
    const auto mixed = connection->run(kUnnest, Parameters{}.add(ArrayText{}.add("x").add_null()));
    const auto null = connection->run(kEcho, Parameters{}.add_null());

    ASSERT_TRUE(counted && none && mixed && null);
    for (std::size_t row = 0; row < numbers.size(); ++row) {
        EXPECT_EQ(counted->number(row, 0), numbers[row]);
    }
    EXPECT_TRUE(none->empty());
    EXPECT_EQ(mixed->text(0, 0), "x");
    EXPECT_TRUE(mixed->is_null(1, 0));
    EXPECT_TRUE(null->is_null(0, 0));
}

TEST_F(PostgresConnection, RefusesAZeroByteInsteadOfCuttingTheTextShort) {
    using namespace std::string_view_literals;
    const auto connection = connect();

    const auto rows = connection->run(kEcho, Parameters{}.add("a\0b"sv));

    ASSERT_FALSE(rows);
    EXPECT_EQ(rows.error().sqlstate, "22021");
    EXPECT_FALSE(rows.error().retryable());
    EXPECT_TRUE(connection->run(kEcho, Parameters{}.add("ab")));
}

TEST_F(PostgresConnection, FlushesABatchInOneTransaction) {
    const auto connection = connect();
    ask(*connection, "create table thing (id int8 primary key)");
    for (int id = 0; id < 3; ++id) {
        connection->queue(kInsert, number(id));
    }
    connection->queue(kCount);

    const auto results = connection->flush();

    ASSERT_TRUE(results) << results.error().message;
    ASSERT_EQ(results->size(), 4U);
    EXPECT_EQ((*results)[0].affected(), 1);
    EXPECT_EQ((*results)[3].number(0, 0), 3);
}

TEST_F(PostgresConnection, RollsABatchBackWhenOneStatementFails) {
    const auto connection = connect();
    ask(*connection, "create table thing (id int8 primary key)");
    connection->queue(kInsert, number(1));
    connection->queue(kInsert, number(1));
    connection->queue(kInsert, number(2));

    const auto results = connection->flush();

    ASSERT_FALSE(results);
    EXPECT_EQ(results.error().sqlstate, "23505");
    EXPECT_FALSE(results.error().outcome_unknown);
    EXPECT_FALSE(results.error().retryable());
    EXPECT_FALSE(connection->in_transaction());
    EXPECT_EQ(ask(*connection, "select count(*) from thing"), "0");
}

TEST_F(PostgresConnection, LeavesAFailedExplicitTransactionToTheCaller) {
    const auto connection = connect();
    ask(*connection, "create table thing (id int8 primary key)");
    connection->queue(kBegin);
    connection->queue(kInsert, number(1));
    connection->queue(kWrong);
    connection->queue(kCommit);

    const auto results = connection->flush();

    ASSERT_FALSE(results);
    EXPECT_EQ(results.error().sqlstate, "42703");
    EXPECT_TRUE(connection->in_transaction());
    EXPECT_TRUE(connection->run(kRollback));
    EXPECT_FALSE(connection->in_transaction());
    EXPECT_EQ(ask(*connection, "select count(*) from thing"), "0");
}

TEST_F(PostgresConnection, PreparesAgainWhatAFailureKeptFromBeingPrepared) {
    const auto connection = connect();
    ask(*connection, "create table thing (id int8 primary key)");
    connection->queue(kWrong);
    connection->queue(kCount);  // Skipped, and with it its preparation.

    const auto failed = connection->flush();
    const auto counted = connection->run(kCount);

    EXPECT_FALSE(failed);
    ASSERT_TRUE(counted) << counted.error().message;
    EXPECT_EQ(counted->number(0, 0), 0);
}

TEST_F(PostgresConnection, ReportsWhatFailsOnlyAtTheCommit) {
    const auto connection = connect();
    ask(*connection,
        "create table thing (id int8 primary key);"
        "create table part (of int8 references thing deferrable initially deferred)");
    constexpr Statement kPart{"part", "insert into part values ($1::int8)"};
    connection->queue(kPart, number(1));
    connection->queue(kCount);

    const auto together = connection->flush();
    connection->queue(kPart, number(2));
    connection->queue(kInsert, number(3));
    const auto each = connection->flush_each();

    ASSERT_FALSE(together);
    EXPECT_EQ(together.error().sqlstate, "23503");
    ASSERT_EQ(each.size(), 2U);
    ASSERT_FALSE(each[0]);
    EXPECT_EQ(each[0].error().sqlstate, "23503");
    EXPECT_TRUE(each[1]);
    EXPECT_EQ(ask(*connection, "select count(*) from part"), "0");
}

TEST_F(PostgresConnection, GivesEachStatementItsOwnOutcome) {
    using namespace std::string_view_literals;
    const auto connection = connect();
    ask(*connection, "create table thing (id int8 primary key)");
    connection->queue(kInsert, number(1));
    connection->queue(kInsert, number(1));
    connection->queue(kWrong);
    connection->queue(kWrong);
    connection->queue(kEcho, Parameters{}.add("\0"sv));
    connection->queue(kInsert, number(2));

    const auto outcomes = connection->flush_each();

    ASSERT_EQ(outcomes.size(), 6U);
    EXPECT_TRUE(outcomes[0]);
    EXPECT_EQ(outcomes[1].error().sqlstate, "23505");
    EXPECT_EQ(outcomes[2].error().sqlstate, "42703");
    EXPECT_EQ(outcomes[3].error().sqlstate, "42703");
    EXPECT_EQ(outcomes[4].error().sqlstate, "22021");
    EXPECT_TRUE(outcomes[5]);
    EXPECT_EQ(ask(*connection, "select count(*) from thing"), "2");
}

TEST_F(PostgresConnection, CarriesMoreThanBothSocketBuffersHold) {
    const auto connection = connect();
    const std::string large(100'000, 'x');
    constexpr int kStatements = 1000;
    for (int i = 0; i < kStatements; ++i) {
        connection->queue(kEcho, Parameters{}.add(large));
    }

    const auto results = connection->flush();

    ASSERT_TRUE(results) << results.error().message;
    ASSERT_EQ(results->size(), kStatements);
    EXPECT_EQ(results->back().text(0, 0), large);
}

TEST_F(PostgresConnection, RunsAScriptAndGivesTheRowsOfItsLastStatement) {
    const auto connection = connect();

    const auto rows =
        connection->run_script("create table thing (id int8); insert into thing values (7); table thing");
    const auto failed = connection->run_script("insert into thing values (8); select 1/0");
    const auto copy = connection->run_script("copy thing from stdin");

    ASSERT_TRUE(rows) << rows.error().message;
    EXPECT_EQ(rows->number(0, 0), 7);
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().sqlstate, "22012");
    EXPECT_FALSE(copy);
    EXPECT_FALSE(connection->usable());
    EXPECT_EQ(ask(*connect(), "select count(*) from thing"), "1");
}

TEST_F(PostgresConnection, HearsNotificationsOfOthers) {
    const auto listener = connect();
    const auto speaker = connect();
    ask(*listener, "listen news");
    ask(*speaker, "notify news, 'first'; notify news, 'second'");

    const auto heard = listener->wait(std::chrono::seconds{20});
    listener->wake();
    const auto woken = listener->wait(std::chrono::seconds{20});
    const auto quiet = listener->wait(milliseconds{1});

    ASSERT_TRUE(heard && woken && quiet);
    ASSERT_EQ(heard->size(), 2U);
    EXPECT_EQ((*heard)[0].channel, "news");
    EXPECT_EQ((*heard)[0].payload, "first");
    EXPECT_EQ((*heard)[1].payload, "second");
    EXPECT_TRUE(woken->empty());
    EXPECT_TRUE(quiet->empty());
}

TEST_F(PostgresConnection, NeverShowsThePassword) {
    for (const char* dsn : {"postgres://u:se%zzcret@127.0.0.1:1/d", "postgres://u:se/cret@127.0.0.1:1/d",
                            "postgres://u:x@secret@127.0.0.1:1/d", "postgres://u:secret@127.0.0.1:1/d",
                            "host=127.0.0.1 port=secret", "host='secret"}) {
        const auto opened = Connection::open(test::test_settings(dsn));

        ASSERT_FALSE(opened) << dsn;
        EXPECT_EQ(opened.error().sqlstate, "08001");
        EXPECT_EQ(opened.error().message.find("cret"), std::string::npos) << opened.error().message;
        EXPECT_EQ(opened.error().message.find('\n'), std::string::npos);
        EXPECT_FALSE(opened.error().outcome_unknown);
    }
}

TEST_F(PostgresConnection, GoesOnToTheHostThatTakesWrites) {
    const auto address = dsn();
    const auto at = address.find('@') + 1;
    const auto listed = address.substr(0, at) + "127.0.0.1:1," + address.substr(at);

    EXPECT_EQ(ask(*test::connect(listed), "select 1"), "1");
}

}  // namespace
}  // namespace sluice::postgres
