#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "store/postgres/client/connection.hpp"

namespace sluice::postgres {

// One step of the schema: tables, types, domains, sequences, indexes. It runs once, in a transaction of its
// own, so its SQL neither begins nor commits. A function whose signature changes is dropped by one.
struct Migration {
    int version;  // From 1 on, without gaps.
    std::string_view name;
    std::string_view sql;
};

// What may be run again at any time, all in one transaction: functions, views and grants.
struct Repeatable {
    int revision;  // From 1 on. Raised with every change of the text that others may have run.
    std::string_view sql;
};

// Why the schema could not be brought up to date: one sentence for the operator.
struct MigrationError {
    std::string message;
    bool retryable = false;  // The server was away or busy; the schema itself is no obstacle.
};

// What to see to before anything is created: nothing when all is well, otherwise why not, in one sentence.
using Precheck = std::function<Result<std::optional<std::string>, Failure>(Connection&)>;

// Which schema the tables are in, or go to, quoted: what @tables@ in the SQL stands for.
using SchemaOfTables = std::function<Result<std::string, MigrationError>(Connection&)>;

struct MigrationOptions {
    // Asked before the first migration only, under the lock and in its transaction: its refusal leaves
    // nothing.
    Precheck precheck;
    // Asked under the lock, before anything runs. Without it @tables@ stands for itself.
    SchemaOfTables schema_of_tables;
    // Run after the migrations.
    std::optional<Repeatable> repeatable;
    // How long another node may be at it.
    std::chrono::milliseconds lock_wait = std::chrono::seconds{60};
};

// Brings the schema forward, never back: runs those of `migrations` that table sluice.schema_version does not
// record yet, in order, each together with its record in one transaction; what fails leaves nothing of
// itself. Any number of nodes may do so at once: each migration runs once, under an advisory lock of this
// database. Then the repeatable text runs, in one transaction, if it is not the one that sluice.schema_code
// holds or if a migration ran. Refuses a server older than PostgreSQL 15, a schema newer than the last
// migration, a text of a later revision, and a recorded version with another name. Makes schema `sluice` when
// there is none. The statement time-out of the connection bounds each migration: see migration_settings().
// REQUIRES: versions 1, 2, 3, ...; no transaction is open.
Result<void, MigrationError> migrate(Connection& connection, std::span<const Migration> migrations,
                                     const MigrationOptions& options = {});

// True: the text that the database holds is this one. An error when its revision is later.
// REQUIRES: sluice.schema_version exists. The text has its schema of tables put in.
Result<bool, MigrationError> is_applied(Connection& connection, const Repeatable& repeatable);

// The SQL with @tables@ replaced.
std::string with_tables(std::string_view sql, std::string_view schema);

// The same server, with the patience that migrations need.
ConnectSettings migration_settings(ConnectSettings settings);

// A precheck: refuses when a table of this schema exists without one of these columns, which is then somebody
// else's. Tables that do not exist are welcome.
struct TableShape {
    std::string_view schema;
    std::string_view table;
    std::span<const std::string_view> columns;
};
Precheck refuse_foreign_tables(std::span<const TableShape> ours);

}  // namespace sluice::postgres
