#include "standing.hpp"

#include <ctime>
#include <new>
#include <type_traits>

#include "settings.hpp"

namespace sluice::walrus {
namespace {

static_assert(std::is_trivially_copyable_v<Standing> && std::is_trivially_destructible_v<Standing>);

struct SharedMemory {
    LWLock* lock;
    pg_atomic_uint64 wal_checkpoints;
    Standing standing;  // Guarded by lock.
};

constexpr const char* kName = "walrus";

SharedMemory* shared = nullptr;
shmem_request_hook_type previous_request = nullptr;
shmem_startup_hook_type previous_startup = nullptr;

void request() {
    if (previous_request != nullptr) {
        previous_request();
    }
    RequestAddinShmemSpace(MAXALIGN(sizeof(SharedMemory)));
    RequestNamedLWLockTranche(kName, 1);
}

void start_up() {
    if (previous_startup != nullptr) {
        previous_startup();
    }
    bool found = false;
    LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
    shared = static_cast<SharedMemory*>(ShmemInitStruct(kName, sizeof(SharedMemory), &found));
    if (!found) {
        shared->lock = &GetNamedLWLockTranche(kName)->lock;
        pg_atomic_init_u64(&shared->wal_checkpoints, 0);
        new (&shared->standing) Standing{};
    }
    LWLockRelease(AddinShmemInitLock);
}

std::int64_t read_clock(clockid_t clock, std::int64_t per_second) {
    timespec now{};
    clock_gettime(clock, &now);
    constexpr std::int64_t kNanoseconds = 1'000'000'000;
    return now.tv_sec * per_second + now.tv_nsec / (kNanoseconds / per_second);
}

}  // namespace

void request_shared_memory() {
    previous_request = shmem_request_hook;
    shmem_request_hook = request;
    previous_startup = shmem_startup_hook;
    shmem_startup_hook = start_up;
}

bool is_preloaded() { return shared != nullptr; }
pg_atomic_uint64* wal_checkpoints() { return &shared->wal_checkpoints; }
LWLock* standing_lock() { return shared->lock; }
Standing& locked_standing() { return shared->standing; }

Standing read_standing() {
    return with_standing([](const Standing& standing) { return standing; });
}

void count_change(bool grows) {
    with_standing([grows](Standing& standing) {
        standing.real = record(standing.real, governor_policy(), unix_seconds());
        standing.shadow = standing.real;
        ++standing.adjustments;
        ++(grows ? standing.increases : standing.decreases);
        standing.watch.end_quiet();
    });
}

std::int64_t unix_seconds() { return read_clock(CLOCK_REALTIME, 1); }
std::int64_t steady_ms() { return read_clock(CLOCK_MONOTONIC, 1000); }

}  // namespace sluice::walrus
