#include "app/limits/token_blocks.hpp"

#include <algorithm>
#include <cassert>

namespace sluice {
namespace {

// Plans' names hold no zero, so that no two pairs share one.
std::string name_of(std::string_view key, const Plan& plan) {
    std::string name = plan.name();
    name += '\0';
    name += key;
    return name;
}

std::string name_of(const Check& check) { return name_of(check.key, *check.plans.front()); }

}  // namespace

bool TokenBlocks::serves(const Check& check) {
    if (check.plans.size() != 1 || check.cost <= 0) {
        return false;
    }
    const PlanTraits& traits = check.plans.front()->traits();
    return check.cost <= traits.lease && !traits.shadow;
}

Verdict TokenBlocks::told(const Block& block, SteadyTime now) {
    Verdict verdict = block.fetched;
    verdict.remaining += block.left;
    verdict.reset_after =
        std::max(std::chrono::ceil<Wait>(verdict.reset_after - (now - block.asked)), Wait{0});
    return verdict;
}

std::optional<Verdict> TokenBlocks::serve(const Check& check, SteadyTime now) {
    const std::string name = name_of(check);
    Shard& shard = shard_of(name);
    const std::lock_guard lock{shard.mutex};
    const auto found = shard.blocks.find(name);
    if (found == shard.blocks.end() || found->second.left < check.cost ||
        found->second.plan != *check.plans.front()) {
        return std::nullopt;
    }
    found->second.left -= check.cost;
    return told(found->second, now);
}

TokenBlocks::Turn TokenBlocks::turn(const Check& check, SteadyTime now) {
    const Plan& plan = *check.plans.front();
    std::string name = name_of(check);
    Shard& shard = shard_of(name);
    const std::lock_guard lock{shard.mutex};
    auto found = shard.blocks.find(name);
    if (found == shard.blocks.end()) {
        if (shard.blocks.size() >= std::max<std::size_t>(options_.blocks_max / kShards, 1)) {
            return Turn::Exact;
        }
        found = shard.blocks.emplace(std::move(name), Block{plan}).first;
    }
    Block& block = found->second;
    if (block.busy) {
        return Turn::Later;
    }
    if (block.plan != plan) {
        block = Block{plan};  // Not given back: the store may count in other units by now.
    }
    if (block.left >= check.cost) {
        return Turn::Later;  // It was kept a moment ago.
    }
    if (now < block.not_before) {
        return Turn::Exact;
    }
    block.busy = true;
    return Turn::Fetch;
}

Verdict TokenBlocks::keep(const Check& check, const Verdict& fetched, SteadyTime asked) {
    const std::string name = name_of(check);
    Shard& shard = shard_of(name);
    const std::lock_guard lock{shard.mutex};
    Block& block = shard.blocks.at(name);
    assert(block.busy);
    const Tokens left = block.dropped ? 0 : block.left + block.plan.traits().lease - check.cost;
    block = Block{block.plan, left, fetched, asked};
    return told(block, asked);
}

void TokenBlocks::refuse(const Check& check, SteadyTime not_before) {
    const std::string name = name_of(check);
    Shard& shard = shard_of(name);
    const std::lock_guard lock{shard.mutex};
    Block& block = shard.blocks.at(name);
    assert(block.busy);
    block.left = block.dropped ? 0 : block.left;
    block.not_before = not_before;
    block.busy = false;
    block.dropped = false;
}

void TokenBlocks::drop(std::string_view key, const Plan& plan) {
    const std::string name = name_of(key, plan);
    Shard& shard = shard_of(name);
    const std::lock_guard lock{shard.mutex};
    const auto found = shard.blocks.find(name);
    if (found == shard.blocks.end()) {
        return;
    }
    found->second.left = 0;
    if (found->second.busy) {
        found->second.dropped = true;
    } else {
        shard.blocks.erase(found);
    }
}

std::vector<TokenBlocks::Ended> TokenBlocks::take_ended(SteadyTime by) {
    std::vector<Ended> ended;
    for (Shard& shard : shards_) {
        const std::lock_guard lock{shard.mutex};
        for (auto each = shard.blocks.begin(); each != shard.blocks.end();) {
            auto& [name, block] = *each;
            const bool is_useless = !block.busy && block.left == 0 && block.not_before <= by;
            if (!block.busy && block.left > 0 && block.asked + options_.lease_time <= by) {
                ended.push_back({name.substr(block.plan.name().size() + 1), block.plan, block.left});
                block.left = 0;
                block.busy = true;
            }
            each = is_useless ? shard.blocks.erase(each) : std::next(each);
        }
    }
    return ended;
}

void TokenBlocks::returned(const Ended& ended, SteadyTime not_before) {
    const std::string name = name_of(ended.key, ended.plan);
    Shard& shard = shard_of(name);
    const std::lock_guard lock{shard.mutex};
    shard.blocks.at(name) = Block{ended.plan, 0, {}, {}, not_before};
}

}  // namespace sluice
