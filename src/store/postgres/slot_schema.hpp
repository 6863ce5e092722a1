#pragma once

#include "store/postgres/migrations.hpp"

namespace sluice::postgres {

// The files of sql/, embedded, before the schema of the tables is put in.
std::span<const Migration> slot_migrations();

// Makes or brings up to date the tables of slots in the connection's first schema, and what belongs to them
// in schema `sluice`. A table of ours that has other columns is somebody else's: refused, nothing created.
Result<void, MigrationError> migrate_slots(Connection& connection);

// Says why the schema cannot be used as it is: for nodes that must not migrate.
Result<void, MigrationError> check_slots_migrated(Connection& connection);

}  // namespace sluice::postgres
