#pragma once

#include <algorithm>
#include <array>

#include "app/limits/limit_store.hpp"
#include "store/memory/limit_shard.hpp"

// How one check is decided on the entries of a shard. All of it needs the shard's lock.
namespace sluice {

// One plan of a check, with what is needed to decide it.
struct Link {
    const Plan* plan;
    const LimitRule* rule;  // The plan's own, or an override's.
    EntryName name;
    LimitEntry* entry;  // Null: nothing is known.
};

// The links of one check, without allocating.
struct Links {
    std::array<Link, kPlansPerCheckMax> items;
    std::size_t count = 0;

    Link* begin() { return items.data(); }
    Link* end() { return items.data() + count; }
};

template <class Rule>
using StateOf = StateIn<std::remove_cvref_t<Rule>>;

inline Standing look_at(const Link& link, const Ask& ask) {
    return std::visit(
        [&](const auto& rule) {
            return link.entry == nullptr ? rule.look(rule.fresh(), ask)
                                         : rule.look(StateOf<decltype(rule)>::read(*link.entry), ask);
        },
        *link.rule);
}

// Changes the state of an entry, for example by charging it.
template <class Change>
void change(LimitEntry& entry, const LimitRule& rule, Change how) {
    std::visit(
        [&](const auto& each) {
            decltype(auto) state = StateOf<decltype(each)>::read(entry);
            how(each, state);
            StateOf<decltype(each)>::write(entry, state);
            entry.idle_at = microseconds_of(each.idle_at(state));
        },
        rule);
}

// So that charging the entry cannot fail. Throws std::bad_alloc.
inline void make_room(LimitEntry& entry, const LimitRule& rule) {
    std::visit([&](const auto& each) { StateOf<decltype(each)>::make_room(entry); }, rule);
}

inline void charge_to(LimitEntry& entry, const LimitRule& rule, const Ask& ask) {
    change(entry, rule, [&](const auto& each, auto& state) { each.charge(state, ask); });
}

// look_at and charge_to in one step, for the check of one known key under one plan. A limit of 0: the cost is
// above what the rule could ever allow.
template <class Rule>
Standing decide_known(LimitEntry& entry, const Rule& rule, const Ask& ask) {
    if (ask.cost > rule.limit()) {
        return {};
    }
    decltype(auto) state = StateIn<Rule>::read(entry);
    const Standing standing = rule.look(state, ask);
    if (standing.allowed && !ask.is_peek()) {
        rule.charge(state, ask);
        StateIn<Rule>::write(entry, state);
        entry.idle_at = microseconds_of(ask.now + standing.reset_after);
    }
    return standing;
}

inline Standing decide_known(LimitEntry& entry, const LimitRule& rule, const Ask& ask) {
    // The most common rule first, where the compiler can see through it.
    if (const auto* bucket = std::get_if<TokenBucket>(&rule)) {
        return decide_known(entry, *bucket, ask);
    }
    return std::visit([&](const auto& each) { return decide_known(entry, each, ask); }, rule);
}

// Writes into the verdict that is there already, if one is: moving a new one costs as much as deciding it.
inline void answer(CheckOutcome& outcome, const Plan& plan, const Standing& standing) {
    if (!outcome) {
        outcome = Verdict{};
    }
    const bool shadowed = !standing.allowed && plan.traits().shadow;
    Verdict& verdict = *outcome;
    verdict.allowed = standing.allowed || shadowed;
    verdict.shadowed = shadowed;
    verdict.plan = 0;
    verdict.limit = standing.limit;
    verdict.remaining = standing.remaining;
    verdict.retry_after = standing.retry_after;
    verdict.reset_after = standing.reset_after;
    verdict.lease = LeaseId{};
}

// The number that stands for a plan's override: plans have at most half of the numbers.
inline std::uint16_t overriding(std::uint16_t plan) { return static_cast<std::uint16_t>(plan | 0x8000U); }

inline std::uint32_t salt_of(std::uint16_t plan) { return plan * 0x9E3779B1U; }

inline EntryName named(std::string_view key, std::uint16_t plan, std::uint64_t hash) {
    return {key, plan, static_cast<std::uint32_t>(hash) ^ salt_of(plan)};
}

inline bool has_plan(Links& links, std::uint16_t number) {
    return std::any_of(links.begin(), links.end(),
                       [number](const Link& link) { return link.name.plan == number; });
}

inline void apply_override(LimitShard& shard, Link& link, Moment now) {
    if (const LimitRule* rule = shard.overrides.find({link.name.plan, link.name.key}, now)) {
        link.rule = rule;
        link.name.hash ^= salt_of(link.name.plan) ^ salt_of(overriding(link.name.plan));
        link.name.plan = overriding(link.name.plan);
    }
}

// Looks for overrides and entries. REQUIRES: the shard's lock.
inline void find_links(LimitShard& shard, Links& links, Moment now) {
    for (Link& link : links) {
        if (!shard.overrides.empty()) [[unlikely]] {
            apply_override(shard, link, now);
        }
        link.entry = shard.table.find(link.name);
        if (link.entry != nullptr) {
            LimitTable::adopt(*link.entry, *link.rule);
        }
    }
}

inline bool is_affordable(Links& links, Tokens cost) {
    return std::all_of(links.begin(), links.end(), [cost](const Link& link) {
        return cost <= std::visit([](const auto& rule) { return rule.limit(); }, *link.rule);
    });
}

inline bool holds_leases(Links& links) {
    return std::any_of(links.begin(), links.end(),
                       [](const Link& link) { return std::holds_alternative<Concurrency>(*link.rule); });
}

}  // namespace sluice
