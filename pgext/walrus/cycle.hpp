#pragma once

namespace sluice::walrus {

// One look at the server, and what follows from it: nothing, a change of max_wal_size, or a line and a row
// that say why there is none. Steps that fail are reported and leave the rest to go on.
// REQUIRES: called by the worker, outside a transaction.
void run_cycle();

}  // namespace sluice::walrus
