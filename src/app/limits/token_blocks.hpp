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

struct TokenBlockOptions {
    Wait lease_time{1'000'000};       // How long a node may hold what it does not use.
    std::size_t blocks_max = 10'000;  // About: each part has its share. Beyond it, checks ask the store.
};

// The blocks of tokens that this node has taken from the store ahead of the checks that will use them, at
// most one for each key and plan. It asks no store: the caller does.
//
// What a node has charged for a key and not admitted is never more than the plan's lease: a block is fetched
// only for a check that costs more than what is left of the one before, which that check then uses up; and
// not while another is fetched or given back. This is what bounds the overshoot (ADR 17).
// Thread safety: all of it.
class TokenBlocks {
public:
    // What a check is to do that no block serves.
    enum class Turn : std::uint8_t {
        Fetch,  // Ask the store for the plan's lease, then call keep() or refuse(), whatever came of it.
        Later,  // Another call fetches, or gives back: try serve() again, or ask for the exact cost.
        Exact,  // Ask for the exact cost.
    };
    // A block whose time is over. Nobody is served from it any more.
    struct Ended {
        std::string key;
        Plan plan;
        Tokens left;
    };

    explicit TokenBlocks(TokenBlockOptions options) : options_{options} {}

    // True for what may be served from blocks: a check of one plan with a lease that is not in shadow mode,
    // no peek, and not dearer than the lease. All calls below REQUIRE it.
    static bool serves(const Check& check);

    // Takes the cost from the block of that key, if it holds enough. What remains is what is left of it and
    // what the store had left when the block was taken.
    std::optional<Verdict> serve(const Check& check, SteadyTime now);

    Turn turn(const Check& check, SteadyTime now);

    // The store allowed the block, which was asked for at `asked`: serves the check and keeps the rest.
    Verdict keep(const Check& check, const Verdict& fetched, SteadyTime asked);
    // It did not. The next block is not fetched before then.
    void refuse(const Check& check, SteadyTime not_before);

    // Forgets the block, also one that is being fetched: its rest is not kept.
    void drop(std::string_view key, const Plan& plan);

    // Takes out the blocks that end by then. returned() must be called for each when the store has them back:
    // no block of that key is fetched until then, nor before the moment given.
    std::vector<Ended> take_ended(SteadyTime by);
    void returned(const Ended& ended, SteadyTime not_before);

    [[nodiscard]] Wait lease_time() const { return options_.lease_time; }

private:
    static constexpr std::size_t kShards = 16;

    struct Block {
        Plan plan;
        Tokens left = 0;
        Verdict fetched{};        // What the store said when the block was taken,
        SteadyTime asked{};       // and when it was asked.
        SteadyTime not_before{};  // No block is fetched earlier.
        bool busy = false;        // Being fetched or given back.
        bool dropped = false;     // While it is fetched.
    };
    struct Shard {
        std::mutex mutex;
        std::map<std::string, Block> blocks;  // Guarded by mutex.
    };

    Shard& shard_of(const std::string& name) { return shards_[std::hash<std::string>{}(name) % kShards]; }
    [[nodiscard]] static Verdict told(const Block& block, SteadyTime now);

    const TokenBlockOptions options_;
    std::array<Shard, kShards> shards_;
};

}  // namespace sluice
