#include "store/postgres/client/schema.hpp"

#include <array>
#include <vector>

namespace sluice::postgres {
namespace {

constexpr Statement kFirstSchema{"first_schema", "select current_schema()"};
// Where the tables are, by the one that references sluice.pool: nobody else's does. Once there is a schema
// `sluice` it may have become the first one itself, for a role of that name.
constexpr Statement kSchemaOfTables{
    "schema_of_tables",
    "select pg_catalog.quote_ident(namespace.nspname),"
    " (select count(*) = 4 from pg_catalog.pg_class ours where ours.relnamespace = namespace.oid"
    " and ours.oid in (pg_catalog.to_regclass('rl_event_wndw_config'), pg_catalog.to_regclass('rl_wndw_ct'),"
    " pg_catalog.to_regclass('rl_event_slot_dtl'), pg_catalog.to_regclass('rl_wndw_frontier_trk')))"
    " from pg_catalog.pg_constraint made"
    " join pg_catalog.pg_class class on class.oid = made.conrelid"
    " join pg_catalog.pg_namespace namespace on namespace.oid = class.relnamespace"
    " where made.contype = 'f' and made.confrelid = pg_catalog.to_regclass('sluice.pool')"
    " and class.relname = 'rl_event_wndw_config'"
    " union all select pg_catalog.quote_ident(pg_catalog.current_schema()), true"
    " where pg_catalog.to_regclass('sluice.pool') is null"};
constexpr Statement kHasRole{
    "has_role",
    "select exists (select from pg_catalog.pg_roles where rolname = 'sluice_client')"
    " or (select rolsuper or rolcreaterole from pg_catalog.pg_roles where rolname = current_user)"};
constexpr Statement kLastVersion{"last_version", "select max(version) from sluice.schema_version"};

constexpr auto kConfigColumns = std::to_array<std::string_view>(
    {"rl_wndw_config_id", "wndw_config_nm", "wndw_max_event_ct", "wndw_size_iso_dur_tx", "config_eff_strt_dt",
     "act_in", "creat_ts", "config_no", "pool_nm"});
constexpr auto kCountColumns =
    std::to_array<std::string_view>({"pool_nm", "wndw_strt_ts", "slot_ct", "creat_ts"});
constexpr auto kSlotColumnNames = std::to_array<std::string_view>(
    {"wndw_slot_id", "event_id", "req_ts", "wndw_strt_ts", "computed_sched_ts", "rl_wndw_config_id",
     "creat_ts", "pool_nm", "weight_ct", "slot_state_cd", "revision_no"});
constexpr auto kFrontierColumns = std::to_array<std::string_view>(
    {"pool_nm", "req_ts", "wndw_end_ts", "creat_ts", "slot_ct_min", "full_end_ts", "full_ct", "run_strt_ts"});

// The grants need a role of the server. Seen to first: what fails leaves the migrations before it.
Precheck refuse_without_role(Precheck first) {
    return [first = std::move(first)](Connection& connection) -> Result<std::optional<std::string>, Failure> {
        if (auto refused = first(connection); !refused || *refused) {
            return refused;
        }
        const auto rows = connection.run(kHasRole);
        if (!rows) {
            return Unexpected{rows.error()};
        }
        if (rows->boolean(0, 0).value_or(false)) {
            return std::optional<std::string>{};
        }
        return std::optional<std::string>{
            "the PostgreSQL role lacks rights for creating role sluice_client: create that role first, or "
            "give this one CREATEROLE"};
    };
}

MigrationError cannot_read(const Failure& failure) {
    return {"PostgreSQL cannot be read: " + failure.message, failure.retryable()};
}

// The schema of the tables, quoted, which the connection must find them in: later statements do not name it.
Result<std::string, MigrationError> schema_of_tables(Connection& connection) {
    const auto found = connection.run(kSchemaOfTables);
    if (!found) {
        return Unexpected{cannot_read(found.error())};
    }
    if (found->empty() || found->is_null(0, 0)) {
        return Unexpected{MigrationError{"the connection's search_path names no schema that exists", false}};
    }
    std::string schema{found->text(0, 0)};
    if (!found->boolean(0, 1).value_or(false)) {
        return Unexpected{MigrationError{"Sluice's tables are in schema " + schema +
                                             ", where the connection's search_path does not find them: put " +
                                             schema + " first",
                                         false}};
    }
    return schema;
}

}  // namespace

Result<void, MigrationError> migrate_slots(Connection& connection) {
    const auto schema = connection.run(kFirstSchema);
    if (!schema) {
        return Unexpected{cannot_read(schema.error())};
    }
    const std::string name{schema->is_null(0, 0) ? "" : schema->text(0, 0)};
    const auto ours = std::to_array<TableShape>({{name, "rl_event_wndw_config", kConfigColumns},
                                                 {name, "rl_wndw_ct", kCountColumns},
                                                 {name, "rl_event_slot_dtl", kSlotColumnNames},
                                                 {name, "rl_wndw_frontier_trk", kFrontierColumns}});
    return migrate(connection, slot_migrations(),
                   {.precheck = refuse_without_role(refuse_foreign_tables(ours)),
                    .schema_of_tables = schema_of_tables,
                    .repeatable = Repeatable{kSlotFunctionsRevision, slot_functions()}});
}

Result<void, MigrationError> check_slots_migrated(Connection& connection) {
    const int known = slot_migrations().back().version;
    const auto rows = connection.run(kLastVersion);
    if (!rows) {
        return Unexpected{rows.error().means(Meaning::NotThere)
                              ? MigrationError{"the schema was not created yet, and postgres.migrateAtStart "
                                               "is off",
                                               false}
                              : cannot_read(rows.error())};
    }
    if (rows->number(0, 0).value_or(0) != known) {
        return Unexpected{MigrationError{"the schema is of version " + std::string{rows->text(0, 0)} +
                                             ", this program needs " + std::to_string(known),
                                         false}};
    }
    const auto schema = schema_of_tables(connection);
    if (!schema) {
        return Unexpected{schema.error()};
    }
    const std::string functions = with_tables(slot_functions(), *schema);
    const auto current = is_applied(connection, {kSlotFunctionsRevision, functions});
    if (!current) {
        return Unexpected{current.error()};
    }
    if (!*current) {
        return Unexpected{
            MigrationError{"the functions in PostgreSQL are not those of this program, and "
                           "postgres.migrateAtStart is off",
                           false}};
    }
    return {};
}

}  // namespace sluice::postgres
