// How a database that has been used comes to what this program needs.
#include "store/postgres/client/schema.hpp"
#include "support/postgres_fixture.hpp"

namespace sluice::postgres {

// Made by CMake of tests/integration/migrations/landed: as they were before functions became repeatable.
std::span<const Migration> landed_migrations();

namespace {

using test::ask;

// All that the catalog says of our schemas and that an upgrade could leave behind.
const std::string kCatalog =
    "select string_agg(line, E'\\n' order by line) from ("
    " select 'function ' || p.oid::regprocedure || ' ' || md5(pg_get_functiondef(p.oid)) || ' '"
    "   || coalesce(p.proacl::text, 'anybody') as line"
    " from pg_proc p where p.pronamespace = 'sluice'::regnamespace"
    " union all select 'view ' || c.oid::regclass || ' ' || pg_get_viewdef(c.oid) from pg_class c"
    " where c.relkind = 'v' and c.relnamespace = 'sluice'::regnamespace"
    " union all select 'column ' || c.oid::regclass || '.' || a.attname || ' '"
    "   || format_type(a.atttypid, a.atttypmod) || ' ' || a.attnotnull || ' '"
    "   || coalesce(pg_get_expr(d.adbin, d.adrelid), '')"
    " from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped"
    " left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum"
    " where c.relkind in ('r', 'c') and c.relnamespace in ('sluice'::regnamespace, 'public'::regnamespace)"
    " union all select 'index ' || indexdef from pg_indexes where schemaname in ('sluice', 'public')"
    " union all select 'check ' || conname || ' ' || pg_get_constraintdef(oid) from pg_constraint"
    " where connamespace in ('sluice'::regnamespace, 'public'::regnamespace)"
    " union all select 'options ' || oid::regclass || ' ' || reloptions::text from pg_class"
    " where reloptions is not null"
    "   and relnamespace in ('sluice'::regnamespace, 'public'::regnamespace)) as lines";

class PostgresUpgrade : public test::PostgresTest {
protected:
    // A session whose search_path is this one.
    [[nodiscard]] std::unique_ptr<Connection> with_path(const std::string& path) const {
        return test::connect(dsn() + "?options=-csearch_path%3D" + path);
    }

    // Brings the database as far as so many of the landed migrations did.
    static void land(Connection& connection, std::size_t count) {
        MigrationOptions options;
        options.schema_of_tables = [](Connection&) { return Result<std::string, MigrationError>{"public"}; };
        const auto done = migrate(connection, landed_migrations().first(count), options);
        ASSERT_TRUE(done) << done.error().message;
    }

    static std::string catalog_of_a_new_one() {
        const test::FreshDatabase fresh;
        const auto connection = test::connect(fresh.dsn());
        const auto done = migrate_slots(*connection);
        EXPECT_TRUE(done) << done.error().message;
        return ask(*connection, kCatalog);
    }
};

TEST_F(PostgresUpgrade, LeavesTheSameAsANewDatabaseAndKeepsSlotsAndGrants) {
    const auto connection = connect();
    land(*connection, 9);
    ask(*connection, "select sluice.put_config('a', 2, 1000, 'PT1S', 'a', null, 100, clock_timestamp())");
    const auto slot = ask(*connection, "select s from sluice.assign_slot('x', 'a', '2030-01-01Z') s");
    ask(*connection, "grant execute on function sluice.to_ms to pg_monitor");
    ask(*connection, "grant select on sluice.recount to pg_monitor");
    ask(*connection, "grant execute on function sluice.assign_slot to pg_monitor with grant option");

    const auto done = migrate_slots(*connection);

    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(ask(*connection, "select s from sluice.assign_slot('x', 'a', '2030-01-01Z') s"), slot);
    EXPECT_EQ(ask(*connection,
                  "select has_function_privilege('pg_monitor', 'sluice.to_ms(timestamptz)', 'execute')"
                  " and has_table_privilege('pg_monitor', 'sluice.recount', 'select')"
                  " and has_function_privilege('pg_monitor', (select oid from pg_proc where proname ="
                  " 'assign_slot'), 'execute with grant option')"),
              "t");
    ask(*connection, "revoke execute on function sluice.to_ms, sluice.assign_slot from pg_monitor");
    EXPECT_EQ(ask(*connection, kCatalog), catalog_of_a_new_one());
}

TEST_F(PostgresUpgrade, FinishesWhatStoppedHalfwayAlsoWhenSchemaSluiceCameFirstMeanwhile) {
    // As the default search_path, "$user", public, is for a role named sluice.
    for (const std::size_t count : {1U, 5U}) {
        SCOPED_TRACE(count);
        const test::FreshDatabase fresh;
        const auto connection = test::connect(fresh.dsn() + "?options=-csearch_path%3Dsluice,public");
        land(*connection, count);

        const auto done = migrate_slots(*connection);

        ASSERT_TRUE(done) << done.error().message;
        EXPECT_EQ(ask(*connection, "select to_regclass('public.rl_wndw_ct') = to_regclass('rl_wndw_ct')"),
                  "t");
        EXPECT_TRUE(migrate_slots(*connection));
        EXPECT_TRUE(check_slots_migrated(*connection));
        ask(*connection, "select sluice.put_config('a', 2, 1000, 'PT1S', 'a', null, 100, clock_timestamp())");
        ask(*connection, "select sluice.assign_slot('x', 'a', '2030-01-01Z')");
    }
}

TEST_F(PostgresUpgrade, RefusesAConnectionThatDoesNotFindTheTables) {
    ASSERT_TRUE(migrate_slots(*connect()));
    ask(*connect(), "create schema other");
    const std::string sentence =
        "Sluice's tables are in schema public, where the connection's search_path does not find them: put "
        "public first";

    const auto migrated = migrate_slots(*with_path("other"));
    const auto checked = check_slots_migrated(*with_path("other"));

    ASSERT_FALSE(migrated);
    EXPECT_EQ(migrated.error().message, sentence);
    ASSERT_FALSE(checked);
    EXPECT_EQ(checked.error().message, sentence);
    EXPECT_TRUE(migrate_slots(*with_path("other,public")));
    ask(*connect(), "create table other.rl_wndw_ct (id int)");
    EXPECT_FALSE(migrate_slots(*with_path("other,public")));
}

TEST_F(PostgresUpgrade, WithFunctionsOfAnotherTextIsNotedWhereANodeMustNotMigrate) {
    const auto connection = connect();
    ASSERT_TRUE(migrate_slots(*connection));
    EXPECT_TRUE(check_slots_migrated(*connection));
    ask(*connection, "update sluice.schema_code set sql = 'another'");

    const auto checked = check_slots_migrated(*connection);

    ASSERT_FALSE(checked);
    EXPECT_EQ(
        checked.error().message,
        "the functions in PostgreSQL are not those of this program, and postgres.migrateAtStart is off");
}

TEST_F(PostgresUpgrade, TheRevisionIsRaisedWithTheTextOfTheFunctions) {
    const auto connection = connect();
    const Statement sum{"sum", "select md5($1::text)"};

    const auto rows = connection->run(sum, Parameters{}.add(slot_functions()));

    // A program of a lower revision leaves these functions alone. So if the text is another now, raise
    // kSlotFunctionsRevision, and write down the new pair here.
    ASSERT_TRUE(rows);
    EXPECT_EQ(kSlotFunctionsRevision, 5);
    EXPECT_EQ(rows->text(0, 0), "a3defdbc09eec758b1bef1b32f8d036b");
}

}  // namespace
}  // namespace sluice::postgres
