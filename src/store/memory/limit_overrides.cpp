#include "store/memory/limit_overrides.hpp"

#include <mutex>

#include "app/limits/limit_store.hpp"

namespace sluice {

bool LimitOverrides::try_put(const EntryName& name, std::uint64_t hash, const LimitOverride& replacement,
                             Moment now) {
    const Moment until = end_of(replacement.end, now);
    LimitShard& shard = shards_.of(hash);
    const std::lock_guard lock{shard.lock};
    if (until <= now) {
        count_.fetch_sub(shard.overrides.erase(name), std::memory_order_relaxed);
        return true;
    }
    const bool known = shard.overrides.has(name);
    shard.overrides.put(name, {replacement.rule, until});
    if (!known && count_.fetch_add(1, std::memory_order_relaxed) >= max_) {
        count_.fetch_sub(shard.overrides.erase(name), std::memory_order_relaxed);
        return false;
    }
    shards_.forget(shard, overriding(name, 0));  // It begins fresh.
    return true;
}

void LimitOverrides::erase_expired(Moment now) {
    for (LimitShard& each : shards_.all()) {
        const std::lock_guard lock{each.lock};
        count_.fetch_sub(each.overrides.erase_expired(now), std::memory_order_relaxed);
    }
}

}  // namespace sluice
