#pragma once

#include <limits>

#include "store/memory/limit_table.hpp"
#include "store/memory/override_book.hpp"
#include "store/memory/spin_lock.hpp"

namespace sluice {

// A part of the keys, with a lock of its own. All plans of one key are in one shard, so that a check over
// several plans takes one lock. One cache line, because threads take it from each other.
struct alignas(64) LimitShard {
    SpinLock lock;  // Guards everything below.
    LimitTable table;
    // No entry of the table becomes idle before; the largest number: none is there.
    std::int64_t earliest_idle = std::numeric_limits<std::int64_t>::max();
    std::int64_t swept_at = 0;
    OverrideBook overrides;
};
static_assert(sizeof(LimitShard) == 64);

}  // namespace sluice
