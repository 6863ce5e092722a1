// What PostgreSQL looks for when it loads the library.

#include "checkpoint_ear.hpp"
#include "postgres_api.hpp"
#include "settings.hpp"
#include "standing.hpp"
#include "worker.hpp"

extern "C" {
PG_MODULE_MAGIC;
PGDLLEXPORT void _PG_init();  // NOLINT(readability-identifier-naming)
}

void _PG_init() {
    // Loaded later (by CREATE EXTENSION, or LOAD), there is neither shared memory nor a worker to be had, and
    // walrus.database could not be defined: the functions say so when they are called.
    if (!process_shared_preload_libraries_in_progress) {
        return;
    }
    sluice::walrus::define_settings();
    sluice::walrus::request_shared_memory();
    sluice::walrus::listen_to_checkpoints();
    sluice::walrus::register_worker();
}
