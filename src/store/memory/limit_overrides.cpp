#include "store/memory/limit_overrides.hpp"

#include <mutex>

namespace sluice {

bool LimitOverrides::try_put(const EntryName& name, std::uint64_t hash, const LimitOverride& replacement,
                             Moment now) {
    const OverrideBook::Name entry{name.plan, name.key};
    LimitShard& shard = shards_.of(hash);
    const std::lock_guard lock{shard.lock};
    if (replacement.until <= now) {
        count_.fetch_sub(shard.overrides.erase(entry), std::memory_order_relaxed);
        return true;
    }
    const bool known = shard.overrides.has(entry);
    shard.overrides.put(entry, replacement);
    if (!known && count_.fetch_add(1, std::memory_order_relaxed) >= max_) {
        count_.fetch_sub(shard.overrides.erase(entry), std::memory_order_relaxed);
        return false;
    }
    shards_.forget(shard, overriding(name));  // It begins fresh.
    return true;
}

void LimitOverrides::erase_expired(Moment now) {
    for (LimitShard& each : shards_.all()) {
        const std::lock_guard lock{each.lock};
        count_.fetch_sub(each.overrides.erase_expired(now), std::memory_order_relaxed);
    }
}

}  // namespace sluice
