#pragma once

#include "app/limits/limit_store.hpp"
#include "store/memory/limit_table.hpp"

// How the rules look at entries and change them. All of it needs the lock of the entry's shard.
namespace sluice {

template <class Rule>
using StateOf = StateIn<std::remove_cvref_t<Rule>>;

// Null: a key that is not known.
inline Standing look_at(const LimitEntry* entry, const LimitRule& rule, const Ask& ask) {
    return std::visit(
        [&](const auto& each) {
            return entry == nullptr ? each.look(each.fresh(), ask)
                                    : each.look(StateOf<decltype(each)>::read(*entry), ask);
        },
        rule);
}

// passes_under() of the rule. Null: a key that is not known.
inline Moment passes_by(const LimitEntry* entry, const LimitRule& rule, const Ask& ask, Moment at) {
    return std::visit(
        [&](const auto& each) {
            return entry == nullptr ? passes_under(each, each.fresh(), ask, at)
                                    : passes_under(each, StateOf<decltype(each)>::read(*entry), ask, at);
        },
        rule);
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

inline std::size_t heap_bytes(const LimitEntry& entry, const LimitRule& rule) {
    return std::visit([&](const auto& each) { return StateOf<decltype(each)>::heap_bytes(entry); }, rule);
}
inline std::size_t growth(const LimitEntry* entry, const LimitRule& rule) {
    return std::visit([&](const auto& each) { return StateOf<decltype(each)>::growth(entry); }, rule);
}

// So that charging the entry cannot fail. Throws std::bad_alloc.
inline void make_room(LimitEntry& entry, const LimitRule& rule) {
    std::visit([&](const auto& each) { StateOf<decltype(each)>::make_room(entry); }, rule);
}

inline void charge_to(LimitEntry& entry, const LimitRule& rule, const Ask& ask) {
    change(entry, rule, [&](const auto& each, auto& state) { each.charge(state, ask); });
}

// look_at and charge_to in one step, for the check of one known key under one plan.
// REQUIRES: ask.cost within the rule's limit.
template <class Rule>
// Inline, because a standing that goes through memory is felt.
[[gnu::always_inline]] inline Standing decide_known(LimitEntry& entry, const Rule& rule, const Ask& ask) {
    decltype(auto) state = StateIn<Rule>::read(entry);
    const Standing standing = rule.look(state, ask);
    if (standing.allowed && !ask.is_peek()) {
        rule.charge(state, ask);
        StateIn<Rule>::write(entry, state);
        entry.idle_at = microseconds_of(ask.now + standing.reset_after);
    }
    return standing;
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

}  // namespace sluice
