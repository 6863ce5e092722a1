#include "app/limits/deny_cache.hpp"

#include <algorithm>

namespace sluice {
namespace {

bool are_same(const std::vector<Plan>& plans, std::span<const Plan* const> asked) {
    return std::equal(plans.begin(), plans.end(), asked.begin(), asked.end(),
                      [](const Plan& plan, const Plan* other) { return plan == *other; });
}

bool can_be_learned(const Check& check, const Verdict& verdict) {
    const auto gives_leases = [](const Plan* plan) {
        return std::holds_alternative<Concurrency>(plan->rule());
    };
    return !verdict.allowed && check.cost > 0 &&
           std::none_of(check.plans.begin(), check.plans.end(), gives_leases);
}

// What is more than a plan could ever allow is the store's to refuse.
bool is_within_limits(const Check& check) {
    return std::all_of(check.plans.begin(), check.plans.end(),
                       [&](const Plan* plan) { return check.cost <= plan->limit(); });
}

Wait rest_of(Wait wait, std::chrono::steady_clock::duration passed) {
    return std::max(std::chrono::ceil<Wait>(wait - passed), Wait{1});
}

}  // namespace

const DenyCache::Denial* DenyCache::longest_of(const Denials& denials, const Check& check, SteadyTime now) {
    const auto found = denials.find(check.key);
    if (found == denials.end()) {
        return nullptr;
    }
    const Denial* longest = nullptr;
    for (const Denial& denial : found->second) {
        const bool holds =
            denial.cost <= check.cost && now < denial.believed_until && are_same(denial.plans, check.plans);
        const auto passes = [](const Denial& each) { return each.asked + each.verdict.retry_after; };
        if (holds && (longest == nullptr || passes(*longest) < passes(denial))) {
            longest = &denial;
        }
    }
    return longest;
}

std::optional<Verdict> DenyCache::find(const Check& check, SteadyTime now) {
    if (options_.longest == Wait{0} || !is_within_limits(check)) {
        return std::nullopt;
    }
    Shard& shard = shard_of(check.key);
    const std::lock_guard lock{shard.mutex};
    const Denial* denial = longest_of(shard.young, check, now);
    if (denial == nullptr) {
        denial = longest_of(shard.old, check, now);
    }
    if (denial == nullptr || check.cost > denial->verdict.limit) {
        return std::nullopt;
    }
    Verdict verdict = denial->verdict;
    verdict.retry_after = rest_of(verdict.retry_after, now - denial->asked);
    verdict.reset_after = std::max(rest_of(verdict.reset_after, now - denial->asked), verdict.retry_after);
    return verdict;
}

std::vector<DenyCache::Denial>& DenyCache::room_for(Shard& shard, std::string_view key) const {
    if (const auto known = shard.young.find(key); known != shard.young.end()) {
        return known->second;
    }
    const std::size_t share = std::max<std::size_t>(options_.keys_max / kShards / 2, 1);
    if (shard.young.size() >= share) {
        shard.old = std::move(shard.young);
        shard.young.clear();
    }
    std::vector<Denial>& denials = shard.young[std::string{key}];
    if (const auto before = shard.old.find(key); before != shard.old.end()) {
        denials = std::move(before->second);
        shard.old.erase(before);
    }
    return denials;
}

void DenyCache::learn(const Check& check, const Verdict& verdict, SteadyTime asked) {
    if (options_.longest == Wait{0} || !can_be_learned(check, verdict)) {
        return;
    }
    Denial denial{{}, check.cost, verdict, asked, asked + std::min(verdict.retry_after, options_.longest)};
    for (const Plan* plan : check.plans) {
        denial.plans.push_back(*plan);
    }
    Shard& shard = shard_of(check.key);
    const std::lock_guard lock{shard.mutex};
    if (asked <= shard.forgotten) {
        return;
    }
    std::vector<Denial>& denials = room_for(shard, check.key);
    std::erase_if(denials, [&](const Denial& other) {
        return other.believed_until <= asked ||
               (other.cost == check.cost && are_same(other.plans, check.plans));
    });
    if (denials.size() == kDenialsPerKey) {
        denials.erase(denials.begin());
    }
    denials.push_back(std::move(denial));
}

void DenyCache::forget(std::string_view key, SteadyTime now) {
    if (options_.longest == Wait{0}) {
        return;
    }
    Shard& shard = shard_of(key);
    const std::lock_guard lock{shard.mutex};
    shard.forgotten = std::max(shard.forgotten, now);
    for (Denials* denials : {&shard.young, &shard.old}) {
        if (const auto known = denials->find(key); known != denials->end()) {
            denials->erase(known);
        }
    }
}

}  // namespace sluice
