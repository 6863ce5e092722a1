#pragma once

#include "store/postgres/client/migrations.hpp"

namespace sluice::postgres {

// The files of sql/migrations/, embedded, before the schema of the tables is put in.
std::span<const Migration> slot_migrations();

// The files of sql/, embedded, likewise.
std::string_view slot_functions();

// Which one of all that there were the functions are. A test knows the text of each: it fails when the text
// was changed and this was not raised.
inline constexpr int kSlotFunctionsRevision = 5;

// Makes or brings up to date the tables of slots, and what belongs to them in schema `sluice`. The tables are
// in the schema where the first migration made them, which was the connection's first one; a connection that
// does not find them there, or finds others, is refused. A table of ours that has other columns is somebody
// else's: refused, nothing created.
Result<void, MigrationError> migrate_slots(Connection& connection);

// Says why the schema cannot be used as it is: for nodes that must not migrate.
Result<void, MigrationError> check_slots_migrated(Connection& connection);

}  // namespace sluice::postgres
