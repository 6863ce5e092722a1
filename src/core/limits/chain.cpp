#include "core/limits/chain.hpp"

#include <vector>

namespace sluice {
namespace {

const LimitRule& rule_of(const ChainLink& link) {
    return link.instead ? *link.instead->rule : link.plan->rule();
}

Moment passes_by(const LimitRule& rule, const LimitState& state, const Ask& ask, Moment at) {
    return std::visit(
        [&](const auto& each) {
            using State = typename std::remove_cvref_t<decltype(each)>::State;
            return passes_under(each, std::get<State>(state), ask, at);
        },
        rule);
}

// REQUIRES: there is an override.
Moment first_pass(const ChainLink& link, const Ask& ask, Moment at) {
    return passes_across_end(
        at, link.instead->until,
        [&](Moment from) { return passes_by(*link.instead->rule, link.instead->state, ask, from); },
        [&](Moment from) { return passes_by(link.plan->rule(), link.state, ask, from); });
}

Standing look_at(const ChainLink& link, const Ask& ask) {
    Standing standing = std::visit(
        [&](const auto& rule) {
            using State = typename std::remove_cvref_t<decltype(rule)>::State;
            return rule.look(std::get<State>(link.instead ? link.instead->state : link.state), ask);
        },
        rule_of(link));
    if (link.instead && !standing.allowed) {
        standing.retry_after = first_pass(link, ask, ask.now) - ask.now;
    }
    return standing;
}

void charge_to(ChainLink& link, const Ask& ask) {
    std::visit(
        [&](const auto& rule) {
            using State = typename std::remove_cvref_t<decltype(rule)>::State;
            rule.charge(std::get<State>(link.instead ? link.instead->state : link.state), ask);
        },
        rule_of(link));
}

// The plan that keeps the check waiting longest, among those in shadow mode or among the others.
std::optional<std::size_t> denier(std::span<const PlanStanding> standings, bool shadow) {
    std::optional<std::size_t> worst;
    for (std::size_t i = 0; i < standings.size(); ++i) {
        const auto& [plan, standing] = standings[i];
        if (standing.allowed || plan->traits().shadow != shadow) {
            continue;
        }
        if (!worst || standing.retry_after > standings[*worst].standing.retry_after) {
            worst = i;
        }
    }
    return worst;
}

std::size_t tightest(std::span<const PlanStanding> standings) {
    std::size_t least = 0;
    for (std::size_t i = 1; i < standings.size(); ++i) {
        if (standings[i].standing.remaining < standings[least].standing.remaining) {
            least = i;
        }
    }
    return least;
}

}  // namespace

Verdict judge(std::span<const PlanStanding> standings) {
    const auto denied_by = denier(standings, false);
    const auto shadow_denied_by = denied_by ? std::nullopt : denier(standings, true);
    const std::size_t speaker = denied_by          ? *denied_by
                                : shadow_denied_by ? *shadow_denied_by
                                                   : tightest(standings);
    const Standing& standing = standings[speaker].standing;
    return {!denied_by,
            shadow_denied_by.has_value(),
            static_cast<std::uint32_t>(speaker),
            standing.limit,
            standing.remaining,
            standing.retry_after,
            standing.reset_after,
            LeaseId{}};
}

Verdict decide_chain(std::span<ChainLink> links, const Ask& ask) {
    std::vector<PlanStanding> standings;
    standings.reserve(links.size());
    for (const ChainLink& link : links) {
        standings.push_back({link.plan, look_at(link, ask)});
    }
    Verdict verdict = judge(standings);
    if (!verdict.allowed) {
        const auto passes = [&](std::size_t i, Moment at) {
            const bool waits = links[i].instead && !links[i].plan->traits().shadow;
            return waits ? first_pass(links[i], ask, at) : at;
        };
        verdict.retry_after = pass_together(links.size(), ask.now + verdict.retry_after, passes) - ask.now;
    }
    if (!verdict.allowed || ask.is_peek()) {
        return verdict;
    }
    for (std::size_t i = 0; i < links.size(); ++i) {
        if (!standings[i].standing.allowed) {
            continue;
        }
        charge_to(links[i], ask);
        if (std::holds_alternative<Concurrency>(rule_of(links[i]))) {
            verdict.lease = ask.lease;
        }
    }
    return verdict;
}

}  // namespace sluice
