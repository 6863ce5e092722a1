#include "app/limits/node_store.hpp"

#include <algorithm>

namespace sluice {
namespace {

// For how long blocks are given back at a time, so that a slow store does not hold up whoever stops.
constexpr std::chrono::seconds kPatience{2};

}  // namespace

NodeStore::NodeStore(const NodeStoreOptions& options, NodeStoreWorld world)
    : world_{world}, denials_{options.denials}, blocks_{options.blocks} {}

std::optional<Verdict> NodeStore::serve(const Check& check) {
    auto served = blocks_.serve(check, world_.clock.now());
    if (served) {
        world_.metrics.store_spared(StoreSpared::Block);
    }
    return served;
}

// The block comes first: a denial says nothing about tokens that this node holds already.
std::optional<Verdict> NodeStore::known(const Check& check) {
    if (TokenBlocks::serves(check)) {
        if (auto served = serve(check)) {
            return served;
        }
    }
    auto denied = denials_.find(check, world_.clock.now());
    if (denied) {
        world_.metrics.store_spared(StoreSpared::Denial);
    }
    return denied;
}

void NodeStore::ask(std::span<const Check> checks, std::span<CheckOutcome> outcomes) {
    const SteadyTime asked = world_.clock.now();
    world_.store.take(checks, outcomes);
    for (std::size_t i = 0; i < checks.size(); ++i) {
        if (outcomes[i]) {
            denials_.learn(checks[i], *outcomes[i], asked);
        }
    }
}

// One call of take() with checks that blocks may serve. Each of them is served, fetches a block, or asks for
// its exact cost. Those that wait for a block, and those whose block was denied, are decided in a second call
// of the store, unless a block serves them by then.
class NodeStore::LeasedTake {
public:
    LeasedTake(NodeStore& node, std::span<const Check> checks, std::span<CheckOutcome> outcomes)
        : node_{node}, checks_{checks}, outcomes_{outcomes} {}

    void run() {
        for (std::size_t i = 0; i < checks_.size(); ++i) {
            begin(i);
        }
        call_store();
        exact_.clear();
        fetching_.clear();
        for (const std::size_t place : waiting_) {
            if (!serve(place)) {
                exact_.push_back(place);
            }
        }
        call_store();
    }

private:
    using Turn = TokenBlocks::Turn;

    void begin(std::size_t place) {
        const Check& check = checks_[place];
        if (!TokenBlocks::serves(check)) {
            exact_.push_back(place);
        } else if (!serve(place)) {
            const Turn turn = node_.blocks_.turn(check, node_.world_.clock.now());
            auto& places = turn == Turn::Fetch ? fetching_ : turn == Turn::Later ? waiting_ : exact_;
            places.push_back(place);
        }
    }

    bool serve(std::size_t place) {
        if (const auto served = node_.serve(checks_[place])) {
            outcomes_[place] = *served;
            return true;
        }
        return false;
    }

    void call_store() {
        std::vector<Check> asked;
        for (const std::size_t place : exact_) {
            asked.push_back(checks_[place]);
        }
        for (const std::size_t place : fetching_) {
            const Check& check = checks_[place];
            asked.push_back({check.key, check.plans, check.plans.front()->traits().lease});
        }
        if (asked.empty()) {
            return;
        }
        std::vector<CheckOutcome> answers(asked.size(), Unexpected{LimitFault::Unavailable});
        const SteadyTime began = node_.world_.clock.now();
        node_.ask(asked, answers);
        for (std::size_t i = 0; i < exact_.size(); ++i) {
            outcomes_[exact_[i]] = answers[i];
        }
        for (std::size_t i = 0; i < fetching_.size(); ++i) {
            settle(fetching_[i], answers[exact_.size() + i], began);
        }
    }

    void settle(std::size_t place, const CheckOutcome& answer, SteadyTime began) {
        const Check& check = checks_[place];
        if (answer && answer->allowed) {
            outcomes_[place] = node_.blocks_.keep(check, *answer, began);
            return;
        }
        Wait pause{0};
        if (answer) {
            pause = std::min(answer->retry_after, node_.blocks_.lease_time());
            waiting_.push_back(place);
        } else if (answer.error() == LimitFault::InvalidCost) {
            // An override allows less at once than the plan's lease.
            pause = node_.blocks_.lease_time();
            waiting_.push_back(place);
        } else {
            outcomes_[place] = answer;
        }
        node_.blocks_.refuse(check, began + pause);
    }

    NodeStore& node_;
    const std::span<const Check> checks_;
    const std::span<CheckOutcome> outcomes_;
    std::vector<std::size_t> exact_;     // Ask for their cost.
    std::vector<std::size_t> fetching_;  // Ask for a block.
    std::vector<std::size_t> waiting_;   // Ask in the second call.
};

void NodeStore::take(std::span<const Check> checks, std::span<CheckOutcome> outcomes) {
    if (std::any_of(checks.begin(), checks.end(), TokenBlocks::serves)) {
        LeasedTake{*this, checks, outcomes}.run();
    } else {
        ask(checks, outcomes);
    }
}

// Whatever gives something back is told to the cache when the store has answered, or may have heard of it:
// a denial that was decided before then is never learned after it.
Result<void, LimitFault> NodeStore::refund(const Check& check) {
    auto given = world_.store.refund(check);
    denials_.forget(check.key, world_.clock.now());
    return given;
}

Result<bool, LimitFault> NodeStore::release(std::string_view key, const Plan& plan, LeaseId lease) {
    auto held = world_.store.release(key, plan, lease);
    denials_.forget(key, world_.clock.now());
    return held;
}

Result<void, LimitFault> NodeStore::reset(std::string_view key, std::span<const Plan* const> plans) {
    auto forgotten = world_.store.reset(key, plans);
    denials_.forget(key, world_.clock.now());
    for (const Plan* plan : plans) {
        blocks_.drop(key, *plan);
    }
    return forgotten;
}

Result<Moment, LimitFault> NodeStore::put_override(std::string_view key, const Plan& plan,
                                                   const LimitOverride& replacement) {
    auto put = world_.store.put_override(key, plan, replacement);
    denials_.forget(key, world_.clock.now());
    blocks_.drop(key, plan);
    return put;
}

void NodeStore::give_back_ended(Wait ahead) { give_back(world_.clock.now() + ahead); }

void NodeStore::give_back(SteadyTime by) {
    bool answers = true;
    const SteadyTime patient_until = world_.clock.now() + kPatience;
    for (const TokenBlocks::Ended& ended : blocks_.take_ended(by)) {
        const SteadyTime now = world_.clock.now();
        // A plan that has changed since may count in other units.
        const auto plans = world_.plans.current();
        const BookedPlan* booked = plans->find(ended.plan.name());
        const bool is_current = booked != nullptr && booked->plan == ended.plan;
        answers = answers && now < patient_until && (!is_current || give_back(ended));
        // What the store did not answer, it may do yet: until then this block counts as held.
        blocks_.returned(ended, answers ? now : now + blocks_.lease_time());
    }
}

bool NodeStore::give_back(const TokenBlocks::Ended& ended) {
    const Plan* const plan = &ended.plan;
    const auto given = refund({ended.key, {&plan, 1}, ended.left});
    return given || given.error() != LimitFault::Unavailable;
}

}  // namespace sluice
