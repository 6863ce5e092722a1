#pragma once

#include <atomic>
#include <memory>
#include <span>

#include "store/memory/entry_memory.hpp"
#include "store/memory/limit_links.hpp"

namespace sluice {

// The shards of a store, and how many keys they hold together.
// Thread safety: all of it, except where a shard's lock is required.
class LimitShards {
public:
    // REQUIRES: keys_max >= 1.
    LimitShards(std::size_t keys_max, std::size_t list_bytes_max);

    [[nodiscard]] std::span<LimitShard> all() { return {shards_.get(), std::size_t{1} << shard_bits_}; }
    [[nodiscard]] LimitShard& of(std::uint64_t hash) { return shards_[index_of(hash)]; }

    // Where the search for an entry begins, without asking its shard, whose line may be far away: the first
    // entry of the shard and LimitTable::home_of, by one multiplication.
    [[nodiscard]] LimitEntry* home_of(std::uint64_t hash, const EntryName& name) const {
        return entries_ + ((std::uint64_t{index_of(hash)} << 32U | name.hash) * entries_per_shard_ >> 32U);
    }

    // Adds the entries that the links need, and makes room for one more charge in each, so that charging them
    // cannot fail. False: the keys, or the bytes of lists, would be too many, and nothing has changed. Throws
    // std::bad_alloc: nothing that matters has changed. REQUIRES: the locks of the links.
    bool add_absent(Links& links);

    // Whatever the rule: of the plan itself, or of its override. REQUIRES: the shard's lock.
    void forget(LimitShard& shard, const EntryName& name);

    // Drops idle keys; each shard is searched for them at most once in 100 ms. Returns when the next may go,
    // at the earliest. REQUIRES: no shard's lock.
    std::int64_t sweep(std::int64_t now);

    [[nodiscard]] std::size_t held() const { return held_.load(std::memory_order_relaxed); }
    [[nodiscard]] std::size_t list_bytes() const { return list_bytes_.load(std::memory_order_relaxed); }
    [[nodiscard]] std::uint64_t expired() const { return expired_.load(std::memory_order_relaxed); }

private:
    // The first bits of the hash; of no bits, too.
    [[nodiscard]] std::size_t index_of(std::uint64_t hash) const {
        return static_cast<std::size_t>(hash >> 1U >> shift_);
    }
    bool reserve(const Links& links, std::size_t count);
    std::int64_t sweep(LimitShard& shard, std::int64_t now);

    const std::size_t keys_max_;
    const std::size_t list_bytes_max_;
    const unsigned shard_bits_;
    const unsigned shift_ = 63U - shard_bits_;
    // Less than 2^24 where there are 2^8 shards: the product of home_of fits.
    const std::size_t entries_per_shard_;
    EntryMemory memory_;                    // Outlives the shards, whose entries it holds.
    LimitEntry* const entries_;             // The first of them.
    std::unique_ptr<LimitShard[]> shards_;  // NOLINT(modernize-avoid-c-arrays): they cannot be moved.
    // Relaxed everywhere: they are numbers, and guard nothing.
    std::atomic<std::size_t> held_{0};
    std::atomic<std::size_t> list_bytes_{0};
    std::atomic<std::uint64_t> expired_{0};
};

}  // namespace sluice
