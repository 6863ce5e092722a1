#pragma once

#include <cstdint>
#include <type_traits>

#include "core/governor/governor.hpp"
#include "core/governor/wal_watch.hpp"
#include "postgres_api.hpp"

namespace sluice::walrus {

// All that the worker and the functions share. Lives in shared memory: zeroed by a restart and by a crash.
struct Standing {
    GovernorState real;
    // The governor of dry runs: what `real` would be, had their changes been made. Equal to it outside of
    // them.
    GovernorState shadow;
    WalWatch watch;
    std::int64_t last_check = 0;  // Unix seconds; 0: never.
    std::int64_t adjustments = 0;
    std::int64_t increases = 0;
    std::int64_t decreases = 0;
    std::int64_t dry_runs = 0;
    std::int64_t blocked_by_cooldown = 0;
    std::int64_t blocked_by_cap = 0;
    std::int64_t failures = 0;  // Changes that PostgreSQL refused.
    int worker_pid = 0;         // 0: none runs.
};

// Asks PostgreSQL for shared memory. REQUIRES: called while shared_preload_libraries are loaded.
void request_shared_memory();

// Whether there is shared memory: the library was preloaded and the server is up.
bool is_preloaded();

// Checkpoints that the amount of WAL forced since the server started. Lock-free: the checkpointer adds to it
// from inside its logging, where no lock may be taken.
pg_atomic_uint64* wal_checkpoints();

LWLock* standing_lock();
Standing& locked_standing();

// Calls `function` with the standing while the lock is held. It must neither raise an ERROR nor wait.
// REQUIRES: is_preloaded().
template <class Function>
auto with_standing(Function function) {
    // No guard object: a destructor would be one more thing that a longjmp skips.
    LWLockAcquire(standing_lock(), LW_EXCLUSIVE);
    if constexpr (std::is_void_v<decltype(function(locked_standing()))>) {
        function(locked_standing());
        LWLockRelease(standing_lock());
    } else {
        const auto result = function(locked_standing());
        static_assert(std::is_trivially_destructible_v<decltype(result)>);
        LWLockRelease(standing_lock());
        return result;
    }
}

// A copy, for reading.
Standing read_standing();

// Counts a change that has been made now, by the worker or by hand: the cooldown and the hour see it.
void count_change(bool grows);

// Seconds since 1970 by the wall clock, and milliseconds by one that never steps back.
std::int64_t unix_seconds();
std::int64_t steady_ms();

}  // namespace sluice::walrus
