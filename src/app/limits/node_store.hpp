#pragma once

#include "app/limits/deny_cache.hpp"
#include "app/limits/limit_observer.hpp"
#include "app/limits/token_blocks.hpp"

namespace sluice {

struct NodeStoreOptions {
    DenyCacheOptions denials{};
    TokenBlockOptions blocks{};
};

// What surrounds the store. All of it outlives it.
struct NodeStoreWorld {
    LimitStore& store;
    const PlanBook& plans;
    LimitMetrics& metrics;
    const SteadyClock& clock;
};

// A store that others share, with what this node knows of it: denials that still hold, and blocks of tokens
// for plans that say `lease`. Decides like the store itself, except that
//   - what another node gives back, resets or overrides, and an override that ends, is seen by checks that
//   are
//     denied here after at most DenyCacheOptions::longest;
//   - in any stretch of time T, n nodes admit for a key at most capacity + refill x T + n x lease tokens of a
//     plan with a lease, and it may be denied for lease_time while some node holds tokens;
//   - of checks of one key in a call of take(), a later one may be decided first.
// What is reset, refunded, released or overridden here counts at once.
// Thread safety: all of it.
class NodeStore final : public LimitStore {
public:
    NodeStore(const NodeStoreOptions& options, NodeStoreWorld world);

    // Answers without the store, if it can. Does not block.
    std::optional<Verdict> known(const Check& check);

    // Gives the store back what is left of blocks that end within `ahead`. After a call that the store did
    // not answer, or two seconds, the rest is given up: it comes back by refilling.
    void give_back_ended(Wait ahead);
    // The same for all blocks. REQUIRES: no take() runs any more.
    void give_back_all() { give_back(SteadyTime::max()); }

    void take(std::span<const Check> checks, std::span<CheckOutcome> outcomes) override;
    CheckOutcome take_together(std::span<const Check> checks) override {
        return world_.store.take_together(checks);
    }
    Result<void, LimitFault> refund(const Check& check) override;
    Result<bool, LimitFault> release(std::string_view key, const Plan& plan, LeaseId lease) override;
    Result<void, LimitFault> reset(std::string_view key, std::span<const Plan* const> plans) override;
    Result<std::vector<Inspection>, LimitFault> inspect(std::string_view key,
                                                        std::span<const Plan* const> plans) override {
        return world_.store.inspect(key, plans);
    }
    Result<Moment, LimitFault> put_override(std::string_view key, const Plan& plan,
                                            const LimitOverride& replacement) override;

private:
    class LeasedTake;

    std::optional<Verdict> serve(const Check& check);
    // Asks the store, and learns what it denies.
    void ask(std::span<const Check> checks, std::span<CheckOutcome> outcomes);
    void give_back(SteadyTime by);
    // False: the store did not answer.
    bool give_back(const TokenBlocks::Ended& ended);

    const NodeStoreWorld world_;
    DenyCache denials_;
    TokenBlocks blocks_;
};

}  // namespace sluice
