#include "store/postgres/slot_schema.hpp"

#include <array>
#include <vector>

namespace sluice::postgres {
namespace {

constexpr Statement kFirstSchema{"first_schema", "select current_schema(), quote_ident(current_schema())"};
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

std::string with_schema(std::string_view sql, const std::string& schema) {
    constexpr std::string_view kMark = "@tables@";
    std::string result;
    for (;;) {
        const std::size_t found = sql.find(kMark);
        result += sql.substr(0, found);
        if (found == std::string_view::npos) {
            return result;
        }
        result += schema;
        sql.remove_prefix(found + kMark.size());
    }
}

// The last migrations need a role of the server. Seen to first: one that fails leaves those before it.
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

}  // namespace

Result<void, MigrationError> migrate_slots(Connection& connection) {
    const auto schema = connection.run(kFirstSchema);
    if (!schema) {
        return Unexpected{cannot_read(schema.error())};
    }
    if (schema->is_null(0, 0)) {
        return Unexpected{MigrationError{"the connection's search_path names no schema that exists", false}};
    }
    const std::string name{schema->text(0, 0)};
    const std::string quoted{schema->text(0, 1)};
    std::vector<std::string> texts;
    for (const Migration& migration : slot_migrations()) {
        texts.push_back(with_schema(migration.sql, quoted));
    }
    std::vector<Migration> migrations;
    for (const Migration& migration : slot_migrations()) {
        migrations.push_back({migration.version, migration.name, texts[migrations.size()]});
    }
    const auto ours = std::to_array<TableShape>({{name, "rl_event_wndw_config", kConfigColumns},
                                                 {name, "rl_wndw_ct", kCountColumns},
                                                 {name, "rl_event_slot_dtl", kSlotColumnNames},
                                                 {name, "rl_wndw_frontier_trk", kFrontierColumns}});
    return migrate(connection, migrations, {.precheck = refuse_without_role(refuse_foreign_tables(ours))});
}

Result<void, MigrationError> check_slots_migrated(Connection& connection) {
    const int known = slot_migrations().back().version;
    const auto rows = connection.run(kLastVersion);
    if (!rows) {
        const bool absent = rows.error().sqlstate == "42P01" || rows.error().sqlstate == "3F000";
        return Unexpected{absent
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
    return {};
}

}  // namespace sluice::postgres
