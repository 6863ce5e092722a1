#include <array>
#include <barrier>
#include <thread>

#include "store/postgres/client/migrations.hpp"
#include "support/postgres_fixture.hpp"

namespace sluice::postgres {

// Made by CMake of tests/integration/migrations.
std::span<const Migration> file_migrations();

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::ask;

constexpr std::array<Migration, 2> kTwo{
    Migration{1, "first", "create table sluice.log (line text); insert into sluice.log values ('first')"},
    Migration{2, "second", "insert into sluice.log values ('second')"}};
constexpr std::array<Migration, 2> kBroken{
    kTwo[0], Migration{2, "second", "create table sluice.half (id int); select no_such_function()"}};
constexpr const char* kSchemas = "select count(*) from pg_namespace where nspname = 'sluice'";

using PostgresMigrations = test::PostgresTest;

std::string log_lines(Connection& connection) {
    return ask(connection, "select string_agg(line, ',' order by line) from sluice.log");
}

TEST_F(PostgresMigrations, AreAppliedInOrderAndOnce) {
    const auto connection = connect();

    const auto first = migrate(*connection, std::span{kTwo}.first(1));
    const auto both = migrate(*connection, kTwo);
    const auto again = migrate(*connection, kTwo);

    ASSERT_TRUE(first) << first.error().message;
    ASSERT_TRUE(both) << both.error().message;
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(log_lines(*connection), "first,second");
    EXPECT_EQ(ask(*connection,
                  "select string_agg(version || ' ' || name, ',' order by version) "
                  "from sluice.schema_version where applied_at <= now()"),
              "1 first,2 second");
    EXPECT_EQ(ask(*connection, "select count(*) from pg_locks where locktype = 'advisory'"), "0");
}

TEST_F(PostgresMigrations, ComeFromFiles) {
    const auto connection = connect();

    const auto done = migrate(*connection, file_migrations());

    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(ask(*connection, "select sluice.things()"), "2");
    EXPECT_EQ(ask(*connection, "select note from sluice.thing limit 1"), "a;b \"c\" \\ @d@ [e]");
    EXPECT_EQ(ask(*connection, "select name from sluice.schema_version where version = 2"), "more_things");
}

TEST_F(PostgresMigrations, OfThreeNodesAtOnceRunOnce) {
    constexpr int kNodes = 3;
    std::barrier together{kNodes};
    std::array<std::string, kNodes> problems;
    {
        std::vector<std::jthread> nodes;
        for (int node = 0; node < kNodes; ++node) {
            nodes.emplace_back([&, node] {
                const auto connection = connect();
                together.arrive_and_wait();
                const auto done = migrate(*connection, kTwo);
                problems.at(static_cast<std::size_t>(node)) = done ? "" : done.error().message;
            });
        }
    }

    for (const auto& problem : problems) {
        EXPECT_EQ(problem, "");
    }
    EXPECT_EQ(log_lines(*connect()), "first,second");
}

TEST_F(PostgresMigrations, ThatFailLeaveNothingOfThemselves) {
    const auto connection = connect();

    const auto broken = migrate(*connection, kBroken);

    ASSERT_FALSE(broken);
    EXPECT_NE(broken.error().message.find("migration 2 (second)"), std::string::npos);
    EXPECT_NE(broken.error().message.find("no_such_function"), std::string::npos);
    EXPECT_FALSE(broken.error().retryable);
    EXPECT_FALSE(connection->in_transaction());
    EXPECT_EQ(ask(*connection, "select to_regclass('sluice.half') is null"), "t");
    EXPECT_EQ(ask(*connection, "select max(version) from sluice.schema_version"), "1");
    EXPECT_TRUE(migrate(*connection, kTwo)) << "the lock is free, and the way forward too";
}

TEST_F(PostgresMigrations, ThatEndTheirOwnTransactionAreRefused) {
    const auto connection = connect();
    constexpr std::array<Migration, 1> kCommits{Migration{1, "commits", "commit"}};

    const auto done = migrate(*connection, kCommits);

    ASSERT_FALSE(done);
    EXPECT_NE(done.error().message.find("ends its own transaction"), std::string::npos);
}

TEST_F(PostgresMigrations, RefuseANewerSchema) {
    const auto connection = connect();
    ASSERT_TRUE(migrate(*connection, kTwo));

    const auto older = migrate(*connection, std::span{kTwo}.first(1));

    ASSERT_FALSE(older);
    EXPECT_EQ(
        older.error().message,
        "the schema in PostgreSQL has version 2, written by a newer Sluice; this one knows versions up to 1");
    EXPECT_FALSE(older.error().retryable);
}

TEST_F(PostgresMigrations, RefuseARecordOfSomethingElse) {
    const auto connection = connect();
    ASSERT_TRUE(migrate(*connection, kTwo));
    constexpr std::array<Migration, 2> kOther{kTwo[0], Migration{2, "other", "select 1"}};

    const auto other = migrate(*connection, kOther);

    ASSERT_FALSE(other);
    EXPECT_NE(other.error().message.find("migration 2 (second)"), std::string::npos);
}

MigrationOptions with_code(int revision, std::string_view sql) {
    MigrationOptions options;
    options.repeatable = Repeatable{revision, sql};
    return options;
}

TEST_F(PostgresMigrations, RunTheRepeatableTextAgainWhenItIsAnother) {
    const auto connection = connect();
    const auto note = [](const std::string& line) {
        return "insert into sluice.log values ('" + line + "')";
    };
    const std::string first = note("code");
    const std::string second = note("new code");

    ASSERT_TRUE(migrate(*connection, std::span{kTwo}.first(1), with_code(1, first)));
    ASSERT_TRUE(migrate(*connection, std::span{kTwo}.first(1), with_code(1, first)));
    EXPECT_EQ(log_lines(*connection), "code,first") << "once is enough";
    ASSERT_TRUE(migrate(*connection, kTwo, with_code(1, first)));
    EXPECT_EQ(log_lines(*connection), "code,code,first,second")
        << "a migration may have dropped what it makes";
    ASSERT_TRUE(migrate(*connection, kTwo, with_code(1, second)));

    EXPECT_EQ(log_lines(*connection), "code,code,first,new code,second");
    EXPECT_EQ(ask(*connection, "select count(*) || ' ' || max(sql) from sluice.schema_code"), "1 " + second);
}

TEST_F(PostgresMigrations, LeaveTheRepeatableTextOfANewerProgramAlone) {
    const auto connection = connect();
    ASSERT_TRUE(migrate(*connection, std::span{kTwo}.first(1), with_code(2, "select 2")));

    const auto older = migrate(*connection, kTwo, with_code(1, "select 1"));
    const auto same = migrate(*connection, std::span{kTwo}.first(1), with_code(1, "select 2"));

    ASSERT_FALSE(older);
    EXPECT_EQ(
        older.error().message,
        "the functions in PostgreSQL have revision 2, written by a newer Sluice; this one has revision 1");
    EXPECT_EQ(ask(*connection, "select max(version) from sluice.schema_version"), "1");
    EXPECT_TRUE(same) << "it is the same text";
}

TEST_F(PostgresMigrations, LeaveNothingOfARepeatableTextThatFails) {
    const auto connection = connect();
    ASSERT_TRUE(migrate(*connection, kTwo, with_code(1, "select 1")));

    const auto broken = migrate(*connection, kTwo,
                                with_code(2, "create table sluice.half (id int); select no_such_function()"));

    ASSERT_FALSE(broken);
    EXPECT_EQ(ask(*connection, "select to_regclass('sluice.half') is null"), "t");
    EXPECT_EQ(ask(*connection, "select revision from sluice.schema_code"), "1");
}

TEST_F(PostgresMigrations, CreateNothingOverTablesOfOthers) {
    const auto connection = connect();
    ask(*connection, "create table public.slot (id int8, remark text)");
    static constexpr std::array<std::string_view, 2> kColumns{"id", "window_start"};
    static constexpr std::array<TableShape, 2> kOurs{TableShape{"public", "slot", kColumns},
                                                     TableShape{"public", "not_there", kColumns}};
    MigrationOptions options;
    options.precheck = refuse_foreign_tables(kOurs);

    const auto refused = migrate(*connection, kTwo, options);
    const auto schemas = ask(*connection, kSchemas);
    ask(*connection, "alter table public.slot add column window_start timestamptz");
    const auto welcome = migrate(*connection, kTwo, options);

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message,
              "table public.slot exists already and is not Sluice's: it has no column window_start");
    EXPECT_EQ(schemas, "0");
    EXPECT_TRUE(welcome);
}

TEST_F(PostgresMigrations, SayWhichRightsAreMissing) {
    const auto role = "role_of_" + ask(*connect(), "select current_database()");
    ask(*connect(), "create role " + role + " login");
    auto limited = dsn();
    limited.replace(limited.find("//") + 2, limited.find('@') - limited.find("//") - 2, role);

    const auto refused = migrate(*test::connect(limited), kTwo);
    const auto schemas = ask(*connect(), kSchemas);
    ask(*connect(), "drop role " + role);

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message.find("the PostgreSQL role lacks rights for creating schema sluice: "),
              0U)
        << refused.error().message;
    EXPECT_EQ(schemas, "0");
}

TEST_F(PostgresMigrations, WaitForAnotherNodeOnlySoLong) {
    const auto other = connect();
    ask(*other, "select pg_advisory_lock(x'736c7569'::int4, x'6365'::int4)");
    MigrationOptions options;
    options.lock_wait = milliseconds{120};

    const auto refused = migrate(*connect(), kTwo, options);

    ASSERT_FALSE(refused);
    EXPECT_TRUE(refused.error().retryable);
    EXPECT_NE(refused.error().message.find("another node"), std::string::npos);
}

TEST_F(PostgresMigrations, HavePatience) {
    const auto patient = migration_settings(test::test_settings(dsn()));

    auto connection = Connection::open(patient);

    ASSERT_TRUE(connection);
    EXPECT_EQ(ask(**connection, "show statement_timeout"), "10min");
}

}  // namespace
}  // namespace sluice::postgres
