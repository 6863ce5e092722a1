#pragma once

#include <array>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "app/limits/limit_store.hpp"
#include "base/steady_clock.hpp"

namespace sluice {

struct DenyCacheOptions {
    Wait longest{0};                   // How long a denial is believed at most. 0: none is remembered.
    std::size_t keys_max = 1U << 16U;  // About: each part of the cache has its share.
};

// Remembers what a store denied, until it could pass. A denied check stays denied until its retry_after, and
// so does one of the same key and plans that costs more, unless something is given back: whoever gives back
// calls forget(). A plan is the same only by name, rule and traits, so that no denial outlives a change.
// Never remembered: peeks, and plans of leases, which come back at any time. When it is full, what was
// learned first goes first.
// Thread safety: all of it.
class DenyCache {
public:
    explicit DenyCache(DenyCacheOptions options) : options_{options} {}

    // A denial that still holds, with the wait that is left of it, rounded up and never 0. For a dearer check
    // than the one that was denied, it waits at least that long. What remains is as it was then.
    [[nodiscard]] std::optional<Verdict> find(const Check& check, SteadyTime now);

    // What a store answered to a check. `asked` is a moment before the store was: it decided later, so that
    // nothing is denied here that could pass there. Not learned if the key was forgotten since.
    void learn(const Check& check, const Verdict& verdict, SteadyTime asked);

    // Drops all that is known of the key, and all that is asked of the store about it by now.
    void forget(std::string_view key, SteadyTime now);

private:
    static constexpr std::size_t kShards = 64;
    static constexpr std::size_t kDenialsPerKey = 4;

    struct Denial {
        std::vector<Plan> plans;
        Tokens cost;
        Verdict verdict;
        SteadyTime asked;
        SteadyTime believed_until;
    };
    using Denials = std::map<std::string, std::vector<Denial>, std::less<>>;
    // A part of the keys. Denials move to `old` when `young` is full, and those in `old` go.
    struct Shard {
        std::mutex mutex;
        Denials young;           // Guarded by mutex.
        Denials old;             // Guarded by mutex.
        SteadyTime forgotten{};  // Guarded by mutex. When a key was forgotten last.
    };

    Shard& shard_of(std::string_view key) { return shards_[std::hash<std::string_view>{}(key) % kShards]; }
    // The one that waits longest. REQUIRES: the shard of the denials is held.
    static const Denial* longest_of(const Denials& denials, const Check& check, SteadyTime now);
    std::vector<Denial>& room_for(Shard& shard, std::string_view key) const;

    const DenyCacheOptions options_;
    std::array<Shard, kShards> shards_;
};

}  // namespace sluice
