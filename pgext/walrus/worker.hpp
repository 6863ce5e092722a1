#pragma once

namespace sluice::walrus {

// Has PostgreSQL start the worker once recovery is over, and again whenever it ends.
// REQUIRES: called while shared_preload_libraries are loaded.
void register_worker();

}  // namespace sluice::walrus
