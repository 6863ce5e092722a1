#include "store/postgres/client/migrations.hpp"

#include <algorithm>
#include <cassert>
#include <thread>
#include <vector>

namespace sluice::postgres {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

// "sluice" in hexadecimal; the second number keeps other uses of the lock apart. Advisory locks are the
// database's own, and this one belongs to the session: it outlives the transactions of the migrations.
constexpr Statement kTryLock{"sluice_migration_lock",
                             "select pg_catalog.pg_try_advisory_lock(x'736c7569'::int4, x'6365'::int4)"};
constexpr Statement kUnlock{"sluice_migration_unlock",
                            "select pg_catalog.pg_advisory_unlock(x'736c7569'::int4, x'6365'::int4)"};
constexpr Statement kHasTable{"sluice_migration_table",
                              "select pg_catalog.to_regclass('sluice.schema_version') is not null"};
constexpr Statement kVersions{"sluice_migration_versions",
                              "select version, name from sluice.schema_version order by version"};
constexpr Statement kRecord{"sluice_migration_record",
                            "insert into sluice.schema_version (version, name, applied_at)"
                            " values ($1::int4, $2::text, pg_catalog.now())"};
constexpr Statement kHasCode{"sluice_migration_code_table",
                             "select pg_catalog.to_regclass('sluice.schema_code') is not null"};
constexpr Statement kCode{"sluice_migration_code", "select revision, sql = $1::text from sluice.schema_code"};
constexpr Statement kRecordCode{"sluice_migration_record_code",
                                "with former as (delete from sluice.schema_code)"
                                " insert into sluice.schema_code (revision, sql, applied_at)"
                                " values ($1::int4, $2::text, pg_catalog.now())"};
constexpr const char* kCodeTable =
    "create table if not exists sluice.schema_code"
    " (revision int not null, sql text not null, applied_at timestamptz not null);";
constexpr Statement kColumns{"sluice_migration_columns",
                             "select attribute.attname from pg_catalog.pg_attribute attribute"
                             " join pg_catalog.pg_class class on class.oid = attribute.attrelid"
                             " join pg_catalog.pg_namespace namespace on namespace.oid = class.relnamespace"
                             " where namespace.nspname = $1::text and class.relname = $2::text"
                             " and attribute.attnum > 0 and not attribute.attisdropped"};

// create schema if not exists demands the right to create also when there is nothing to do.
constexpr const char* kFoundation =
    "do $$ begin"
    " if pg_catalog.to_regnamespace('sluice') is null then create schema sluice; end if;"
    " end $$;"
    "create table sluice.schema_version"
    " (version int primary key, name text not null, applied_at timestamptz not null)";

constexpr std::string_view kTablesMark = "@tables@";
constexpr int kOldestServer = 150000;
constexpr milliseconds kLockPoll{50};

MigrationError explain(const std::string& doing, const Failure& failure) {
    if (failure.means(Meaning::NoRights)) {
        return {"the PostgreSQL role lacks rights for " + doing + ": " + failure.message, false};
    }
    if (failure.connection_lost) {
        return {"PostgreSQL was lost while " + doing + ": " + failure.message, true};
    }
    return {"PostgreSQL failed while " + doing + ": " + failure.message + " (" + failure.sqlstate + ")",
            failure.retryable()};
}

std::string described(const Migration& migration) {
    return "applying migration " + std::to_string(migration.version) + " (" + std::string{migration.name} +
           ")";
}

// The advisory lock, while this lives. Asked for again and again rather than waited for: a wait would be a
// statement that keeps every index of the database from being built concurrently.
class MigrationLock {
public:
    explicit MigrationLock(Connection& connection) : connection_{connection} {}
    ~MigrationLock() {
        if (held_ && connection_.reset()) {
            (void)connection_.run(kUnlock).has_value();  // A lost connection has lost its locks.
        }
    }
    MigrationLock(const MigrationLock&) = delete;
    MigrationLock& operator=(const MigrationLock&) = delete;

    Result<void, MigrationError> take(milliseconds wait);

private:
    Connection& connection_;
    bool held_ = false;
};

Result<void, MigrationError> MigrationLock::take(milliseconds wait) {
    const auto start = Clock::now();
    while (true) {
        const auto locked = connection_.run(kTryLock);
        if (!locked) {
            return Unexpected{explain("asking for the migration lock", locked.error())};
        }
        held_ = locked->boolean(0, 0).value_or(false);
        if (held_) {
            return {};
        }
        const auto left = std::chrono::duration_cast<milliseconds>(wait - (Clock::now() - start));
        if (left <= milliseconds{0}) {
            return Unexpected{MigrationError{"another node has been migrating the schema for more than " +
                                                 std::to_string(wait.count()) + " ms",
                                             true}};
        }
        std::this_thread::sleep_for(std::min(left, kLockPoll));
    }
}

// How many of the migrations are recorded already; none without the table.
Result<std::size_t, MigrationError> count_applied(Connection& connection,
                                                  std::span<const Migration> migrations) {
    const auto has_table = connection.run(kHasTable);
    if (!has_table) {
        return Unexpected{explain("looking for the schema", has_table.error())};
    }
    if (!has_table->boolean(0, 0).value_or(false)) {
        return std::size_t{0};
    }
    const auto recorded = connection.run(kVersions);
    if (!recorded) {
        return Unexpected{explain("reading the schema's version", recorded.error())};
    }
    const auto newest = recorded->empty() ? 0 : recorded->number(recorded->size() - 1, 0).value_or(0);
    if (newest > static_cast<std::int64_t>(migrations.size())) {
        return Unexpected{MigrationError{"the schema in PostgreSQL has version " + std::to_string(newest) +
                                             ", written by a newer Sluice; this one knows versions up to " +
                                             std::to_string(migrations.size()),
                                         false}};
    }
    for (std::size_t row = 0; row < recorded->size(); ++row) {
        const auto& known = migrations[row];
        if (recorded->number(row, 0) != known.version || recorded->text(row, 1) != known.name) {
            return Unexpected{MigrationError{
                "the schema in PostgreSQL records migration " + std::string{recorded->text(row, 0)} + " (" +
                    std::string{recorded->text(row, 1)} + "), which is none of this Sluice's",
                false}};
        }
    }
    return recorded->size();
}

// What comes before the first migration, in its transaction.
Result<void, MigrationError> lay_foundation(Connection& connection, const Precheck& precheck) {
    if (precheck) {
        const auto checked = precheck(connection);
        if (!checked) {
            return Unexpected{explain("looking at what the database holds", checked.error())};
        }
        if (*checked) {
            return Unexpected{MigrationError{**checked, false}};
        }
    }
    if (const auto made = connection.run_script(kFoundation); !made) {
        return Unexpected{explain("creating schema sluice", made.error())};
    }
    return {};
}

// Something that runs together with its record in one transaction.
struct Step {
    std::string doing;
    std::string sql;
    const Statement& record;
    Parameters recorded;
};

Result<void, MigrationError> apply(Connection& connection, Step step, const Precheck* precheck) {
    if (const auto begun = connection.run_script("begin"); !begun) {
        return Unexpected{explain(step.doing, begun.error())};
    }
    if (precheck != nullptr) {
        if (auto laid = lay_foundation(connection, *precheck); !laid) {
            return laid;
        }
    }
    if (const auto ran = connection.run_script(step.sql); !ran) {
        return Unexpected{explain(step.doing, ran.error())};
    }
    // A step that ended the transaction itself could not be undone: its record would stand alone.
    if (!connection.in_transaction()) {
        return Unexpected{MigrationError{step.doing + " failed: it ends its own transaction", false}};
    }
    if (const auto recorded = connection.run(step.record, std::move(step.recorded)); !recorded) {
        return Unexpected{explain(step.doing, recorded.error())};
    }
    if (const auto committed = connection.run_script("commit"); !committed) {
        return Unexpected{explain(step.doing, committed.error())};
    }
    return {};
}

// Runs what the database lacks. REQUIRES: the lock is held.
Result<void, MigrationError> bring_forward(Connection& connection, std::span<const Migration> migrations,
                                           const MigrationOptions& options) {
    const auto applied = count_applied(connection, migrations);
    if (!applied) {
        return Unexpected{applied.error()};
    }
    std::string schema{kTablesMark};
    if (options.schema_of_tables) {
        auto found = options.schema_of_tables(connection);
        if (!found) {
            return Unexpected{std::move(found).error()};
        }
        schema = std::move(*found);
    }
    std::optional<Repeatable> repeatable = options.repeatable;
    const std::string code = repeatable ? with_tables(repeatable->sql, schema) : "";
    if (repeatable) {
        repeatable->sql = code;
        // Before anything runs: an older program must not change a newer schema halfway.
        const Result<bool, MigrationError> current =
            *applied > 0 ? is_applied(connection, *repeatable) : Result<bool, MigrationError>{false};
        if (!current) {
            return Unexpected{current.error()};
        }
        if (*current && *applied == migrations.size()) {
            return {};
        }
    }
    for (std::size_t i = *applied; i < migrations.size(); ++i) {
        const Migration& migration = migrations[i];
        auto done = apply(connection,
                          {described(migration), with_tables(migration.sql, schema), kRecord,
                           Parameters{}.add(std::int64_t{migration.version}).add(migration.name)},
                          i == 0 ? &options.precheck : nullptr);
        if (!done) {
            return done;
        }
    }
    if (!repeatable) {
        return {};
    }
    return apply(connection,
                 {"applying the functions", kCodeTable + code, kRecordCode,
                  Parameters{}.add(std::int64_t{repeatable->revision}).add(code)},
                 nullptr);
}

// The complaint about a table that exists without one of our columns.
Result<std::optional<std::string>, Failure> missing_column(Connection& connection, const TableShape& shape) {
    const auto rows = connection.run(kColumns, Parameters{}.add(shape.schema).add(shape.table));
    if (!rows) {
        return Unexpected{rows.error()};
    }
    std::vector<std::string_view> found;
    for (std::size_t row = 0; row < rows->size(); ++row) {
        found.push_back(rows->text(row, 0));
    }
    const auto missing = std::find_if(shape.columns.begin(), shape.columns.end(), [&found](auto column) {
        return std::find(found.begin(), found.end(), column) == found.end();
    });
    if (found.empty() || missing == shape.columns.end()) {
        return std::optional<std::string>{};
    }
    return std::optional{"table " + std::string{shape.schema} + "." + std::string{shape.table} +
                         " exists already and is not Sluice's: it has no column " + std::string{*missing}};
}

std::string version_text(int version) {
    return std::to_string(version / 10000) + "." + std::to_string(version % 10000);
}

}  // namespace

Result<void, MigrationError> migrate(Connection& connection, std::span<const Migration> migrations,
                                     const MigrationOptions& options) {
    for (std::size_t i = 0; i < migrations.size(); ++i) {
        assert(migrations[i].version == static_cast<int>(i) + 1);
    }
    if (connection.usable() && connection.server_version() < kOldestServer) {
        return Unexpected{MigrationError{"PostgreSQL " + version_text(connection.server_version()) +
                                             " is too old: Sluice needs version 15 or later",
                                         false}};
    }
    MigrationLock lock{connection};
    if (auto locked = lock.take(options.lock_wait); !locked) {
        return locked;
    }
    auto done = bring_forward(connection, migrations, options);
    if (!done) {
        connection.reset();  // Rolls back.
    }
    return done;
}

Result<bool, MigrationError> is_applied(Connection& connection, const Repeatable& repeatable) {
    const auto has_table = connection.run(kHasCode);
    if (!has_table) {
        return Unexpected{explain("looking for the functions", has_table.error())};
    }
    if (!has_table->boolean(0, 0).value_or(false)) {
        return false;
    }
    const auto held = connection.run(kCode, Parameters{}.add(repeatable.sql));
    if (!held) {
        return Unexpected{explain("reading the functions", held.error())};
    }
    if (held->empty()) {
        return false;
    }
    const bool same = held->boolean(0, 1).value_or(false);
    if (const auto revision = held->number(0, 0).value_or(0); !same && revision > repeatable.revision) {
        return Unexpected{MigrationError{
            "the functions in PostgreSQL have revision " + std::to_string(revision) +
                ", written by a newer Sluice; this one has revision " + std::to_string(repeatable.revision),
            false}};
    }
    return same;
}

std::string with_tables(std::string_view sql, std::string_view schema) {
    std::string result;
    for (;;) {
        const std::size_t found = sql.find(kTablesMark);
        result += sql.substr(0, found);
        if (found == std::string_view::npos) {
            return result;
        }
        result += schema;
        sql.remove_prefix(found + kTablesMark.size());
    }
}

ConnectSettings migration_settings(ConnectSettings settings) {
    settings.statement_timeout = std::chrono::minutes{10};
    settings.lock_timeout = std::chrono::seconds{30};
    settings.idle_in_transaction_timeout = std::chrono::minutes{1};
    return settings;
}

Precheck refuse_foreign_tables(std::span<const TableShape> ours) {
    return [shapes = std::vector<TableShape>(ours.begin(), ours.end())](
               Connection& connection) -> Result<std::optional<std::string>, Failure> {
        for (const auto& shape : shapes) {
            auto missing = missing_column(connection, shape);
            if (!missing || *missing) {
                return missing;
            }
        }
        return std::optional<std::string>{};
    };
}

}  // namespace sluice::postgres
