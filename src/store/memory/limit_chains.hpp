#pragma once

#include <atomic>

#include "app/limits/lease_numbers.hpp"
#include "store/memory/limit_shards.hpp"
#include "store/memory/memory_limit_store.hpp"

namespace sluice {

// Decides chains of links, over one key or over several: all of them are charged, or none is.
// Thread safety: all of it.
class LimitChains {
public:
    // `shards` must outlive it.
    LimitChains(const MemoryLimitOptions& options, LimitShards& shards)
        : keys_max_{options.keys_max}, when_full_{options.when_full}, shards_{shards} {}

    // Throws std::bad_alloc, and then has charged nothing.
    // REQUIRES: at least one link, and none twice; none of the shards' locks.
    CheckOutcome take(Links& links, Moment now);

    // Chains that found no room for a new key.
    [[nodiscard]] std::uint64_t refused() const { return refused_.load(std::memory_order_relaxed); }

private:
    std::optional<CheckOutcome> try_take(Links& links, Moment now);
    void charge(Links& links, std::span<const PlanStanding> standings, Moment now, Verdict& verdict);
    CheckOutcome refuse(const Links& links, Wait until_room);

    const std::size_t keys_max_;
    const WhenKeysFull when_full_;
    LimitShards& shards_;
    std::atomic<std::uint64_t> refused_{0};  // Relaxed: a number that guards nothing.
    LeaseNumbers leases_;
};

}  // namespace sluice
