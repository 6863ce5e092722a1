#include "store/memory/limit_shards.hpp"

#include <bit>
#include <mutex>
#include <new>

namespace sluice {
namespace {

constexpr std::int64_t kSweepPause = 100'000;  // Microseconds.
constexpr std::size_t kShardsMax = 256;
constexpr std::size_t kKeysPerShardMin = 256;

// A power of two.
std::size_t shards_for(std::size_t keys_max) {
    return std::min(kShardsMax, std::bit_floor(std::max<std::size_t>(1, keys_max / kKeysPerShardMin)));
}

// How many entries are to be made, in all shards or in one.
std::size_t count_absent(const Links& links, const LimitShard* shard = nullptr) {
    return static_cast<std::size_t>(std::count_if(links.begin(), links.end(), [&](const Link& link) {
        return link.needs_entry() && (shard == nullptr || link.shard == shard);
    }));
}

// Bytes that lists of the links will take beyond what they have.
std::size_t bytes_wanted(const Links& links) {
    std::size_t bytes = 0;
    for (const Link& link : links) {
        bytes += link.cost > 0 ? growth(link.entry, *link.rule) : 0;
    }
    return bytes;
}

}  // namespace

LimitShards::LimitShards(std::size_t keys_max, std::size_t list_bytes_max)
    : keys_max_{keys_max},
      list_bytes_max_{list_bytes_max},
      shard_bits_{static_cast<unsigned>(std::bit_width(shards_for(keys_max)) - 1)},
      entries_per_shard_{keys_max * 3 / 2 / shards_for(keys_max) + 64},
      memory_{entries_per_shard_ << shard_bits_},
      entries_{memory_.entries().data()},
      // NOLINTNEXTLINE(modernize-avoid-c-arrays): shards cannot be moved.
      shards_{std::make_unique<LimitShard[]>(shards_for(keys_max))} {
    std::size_t first = 0;
    for (LimitShard& shard : all()) {
        shard.table.use(memory_.entries().subspan(first, entries_per_shard_));
        first += entries_per_shard_;
    }
}

bool LimitShards::add_absent(Links& links) {
    std::size_t absent = count_absent(links);
    if (absent > 0 && !reserve(links, absent)) {
        return false;
    }
    std::size_t bytes = bytes_wanted(links);
    if (bytes > 0 && list_bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes > list_bytes_max_) {
        list_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
        held_.fetch_sub(absent, std::memory_order_relaxed);
        return false;
    }
    try {
        for (Link& link : links) {
            if (link.needs_entry()) {
                link.entry = &link.shard->table.add(link.name, *link.rule);
                --absent;
                bytes -= heap_bytes(*link.entry, *link.rule);
            }
            if (link.cost > 0) {
                const std::size_t before = heap_bytes(*link.entry, *link.rule);
                make_room(*link.entry, *link.rule);
                bytes -= heap_bytes(*link.entry, *link.rule) - before;
            }
        }
    } catch (const std::bad_alloc&) {
        held_.fetch_sub(absent, std::memory_order_relaxed);
        list_bytes_.fetch_sub(bytes, std::memory_order_relaxed);  // What was not made.
        for (const Link& link : links) {
            link.shard->earliest_idle = 0;  // What was added is fresh, and goes with the next sweep.
        }
        throw;
    }
    return true;
}

bool LimitShards::reserve(const Links& links, std::size_t count) {
    for (const Link& link : links) {
        if (link.needs_entry() && !link.shard->table.has_room(count_absent(links, link.shard))) {
            return false;
        }
    }
    if (held_.fetch_add(count, std::memory_order_relaxed) + count > keys_max_) {
        held_.fetch_sub(count, std::memory_order_relaxed);
        return false;
    }
    return true;
}

void LimitShards::forget(LimitShard& shard, const EntryName& name) {
    const auto forget_one = [&](const EntryName& each) {
        if (LimitEntry* entry = shard.table.find(each)) {
            list_bytes_.fetch_sub(shard.table.erase(*entry), std::memory_order_relaxed);
            held_.fetch_sub(1, std::memory_order_relaxed);
        }
    };
    for (std::size_t rule = 0; rule < std::variant_size_v<LimitRule>; ++rule) {
        forget_one((name.plan & kOverriding) != 0 ? overriding(name, rule) : own(name, rule));
    }
}

std::int64_t LimitShards::sweep(std::int64_t now) {
    constexpr std::int64_t kNothing = std::numeric_limits<std::int64_t>::max();
    std::int64_t next = kNothing;
    for (LimitShard& shard : all()) {
        const std::lock_guard lock{shard.lock};
        next = std::min(next, sweep(shard, now));
    }
    return next == kNothing ? now + kSweepPause : next;  // No key at all: others may bring some meanwhile.
}

std::int64_t LimitShards::sweep(LimitShard& shard, std::int64_t now) {
    const bool swept_just_now = now >= shard.swept_at && now - shard.swept_at < kSweepPause;
    if (shard.earliest_idle <= now && !swept_just_now) {
        const LimitTable::Sweep swept = shard.table.erase_idle(now);
        shard.earliest_idle = swept.earliest_idle;
        shard.swept_at = now;
        held_.fetch_sub(swept.erased, std::memory_order_relaxed);
        list_bytes_.fetch_sub(swept.heap_bytes, std::memory_order_relaxed);
        expired_.fetch_add(swept.erased, std::memory_order_relaxed);
    }
    // Where the last search lies ahead the clock has stepped back since, and there is no pause to wait for.
    return shard.swept_at > now ? shard.earliest_idle
                                : std::max(shard.earliest_idle, shard.swept_at + kSweepPause);
}

}  // namespace sluice
