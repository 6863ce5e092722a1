#pragma once

#include "core/governor/wal_sizing.hpp"

namespace sluice::walrus {

// What a caller's transaction changes outside of the tables: max_wal_size, and what is remembered in shared
// memory. It is noted first and done when the transaction commits, so it stands with the rows of the history
// or goes with them, in subtransactions too.

// The size is written as the last step before the commit, where an ERROR still undoes the rows; it is counted
// and takes effect after it. Between the two only a crash can part them. Raises an ERROR in a SERIALIZABLE
// transaction, which may still fail in between; such a transaction cannot be PREPAREd either.
void change_size_at_commit(Megabytes from, Megabytes to);

// Whether the open transaction has noted a size.
bool is_size_noted();

// Forgets counters, cooldown, hour and baseline.
void forget_at_commit();

}  // namespace sluice::walrus
