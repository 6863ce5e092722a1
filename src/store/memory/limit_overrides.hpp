#pragma once

#include <atomic>

#include "store/memory/limit_shards.hpp"

namespace sluice {

// How many overrides there are in all shards together, and that they do not become too many.
// Thread safety: all of it.
class LimitOverrides {
public:
    // `shards` must outlive it.
    LimitOverrides(LimitShards& shards, std::size_t overrides_max) : shards_{shards}, max_{overrides_max} {}

    // As LimitStore::put_override; `name` is the plan's own, of the shard that `hash` belongs to. False:
    // there are too many, also without those that have expired. Throws std::bad_alloc, and then has changed
    // nothing.
    bool put(const EntryName& name, std::uint64_t hash, const LimitOverride& replacement, Moment now) {
        if (try_put(name, hash, replacement, now)) {
            return true;
        }
        erase_expired(now);
        return try_put(name, hash, replacement, now);
    }

private:
    // Made first and counted after, so that want of memory leaves nothing behind.
    bool try_put(const EntryName& name, std::uint64_t hash, const LimitOverride& replacement, Moment now);
    void erase_expired(Moment now);

    LimitShards& shards_;
    const std::size_t max_;
    std::atomic<std::size_t> count_{0};  // Relaxed: a number that guards nothing.
};

}  // namespace sluice
