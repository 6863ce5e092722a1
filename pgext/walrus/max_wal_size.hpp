#pragma once

#include "core/governor/wal_sizing.hpp"
#include "core/governor/wal_watch.hpp"

namespace sluice::walrus {

// The size in force in this process, since its last reload.
Megabytes current_size();

// The smallest size that is safe to write: a server does not start with less than two segments, and below
// min_wal_size it would only throw away files that it is to keep.
Megabytes smallest_size();

// Whether max_wal_size was given on the server's command line, where ALTER SYSTEM does not reach.
// Needs an open transaction.
bool is_fixed_by_command_line();

// ALTER SYSTEM SET max_wal_size. Takes effect with reload_configuration(); a rollback does not undo it.
// Raises PostgreSQL's errors. Needs an open transaction of a superuser.
void write_size(Megabytes size);

// Has every process of the server read its configuration again.
void reload_configuration();

// The server at this moment. False, with a WARNING, if it has no statistics.
bool read_server(WalReading* reading);

}  // namespace sluice::walrus
