#pragma once

#include <memory>

#include "app/limits/limit_store.hpp"
#include "app/limits/moment_clock.hpp"

namespace sluice {

// What a new key gets while the store holds as many live keys as it may.
enum class WhenKeysFull : std::uint8_t {
    Deny,  // Denied until a key may have gone; LimitFault::Full if it needs more room than there is.
    Fail,  // LimitFault::Full, for the plan's fail policy to answer.
};

struct MemoryLimitOptions {
    std::size_t keys_max = 1'000'000;  // A key counts once for each plan that holds something against it.
    WhenKeysFull when_full = WhenKeysFull::Deny;
    std::uint64_t seed = 0;  // Secret, and different for each process: clients choose keys.
    std::size_t overrides_max = 10'000;
    // That sliding windows and leases may take from the heap together. What needs more is refused as a new
    // key is of a store that is full.
    std::size_t list_bytes_max = std::size_t{256} << 20U;
};

struct MemoryLimitFigures {
    std::size_t keys_held = 0;
    std::uint64_t keys_refused = 0;  // Checks of new keys that found the store full.
    std::uint64_t keys_expired = 0;  // Idle keys that made room for others.
    std::size_t list_bytes = 0;      // Of the heap, for sliding windows and leases.
};

// Limits that live as long as the process, in a fixed piece of memory: 96 bytes for each key it may hold,
// touched as it is used. Keys above 24 bytes take more from the heap; so do sliding windows and leases,
// within a bound. A check of a known key under a token bucket, fixed window, estimate or cooldown allocates
// nothing.
//
// When it is full, idle keys go first; each part of the store is searched for them at most once in 100 ms. A
// key that could still deny is never dropped. A dropped key behaves as one that was last looked at when it
// went.
class MemoryLimitStore : public LimitStore {
public:
    [[nodiscard]] virtual MemoryLimitFigures figures() const = 0;
};

// `clock` must outlive the store. Throws std::bad_alloc if the memory cannot be had, and
// std::invalid_argument unless 1 <= keys_max <= 2^31.
std::unique_ptr<MemoryLimitStore> make_memory_limit_store(const MemoryLimitOptions& options,
                                                          const MomentClock& clock);

}  // namespace sluice
