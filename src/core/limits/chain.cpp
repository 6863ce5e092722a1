#include "core/limits/chain.hpp"

#include <optional>
#include <vector>

namespace sluice {
namespace {

Standing look_at(const ChainLink& link, const Ask& ask) {
    return std::visit(
        [&](const auto& rule) {
            using State = typename std::remove_cvref_t<decltype(rule)>::State;
            return rule.look(std::get<State>(link.state), ask);
        },
        link.plan->rule());
}

void charge_to(ChainLink& link, const Ask& ask) {
    std::visit(
        [&](const auto& rule) {
            using State = typename std::remove_cvref_t<decltype(rule)>::State;
            rule.charge(std::get<State>(link.state), ask);
        },
        link.plan->rule());
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
    if (!verdict.allowed || ask.is_peek()) {
        return verdict;
    }
    for (std::size_t i = 0; i < links.size(); ++i) {
        if (!standings[i].standing.allowed) {
            continue;
        }
        charge_to(links[i], ask);
        if (std::holds_alternative<Concurrency>(links[i].plan->rule())) {
            verdict.lease = ask.lease;
        }
    }
    return verdict;
}

}  // namespace sluice
