#include "store/memory/limit_chains.hpp"

namespace sluice {
namespace {

// What it remembers grows with what it is asked for.
bool is_list(const LimitRule& rule) {
    return std::holds_alternative<SlidingWindow>(rule) || std::holds_alternative<Concurrency>(rule);
}

}  // namespace

CheckOutcome LimitChains::take(Links& links, Moment now) {
    if (const auto outcome = try_take(links, now)) {
        return *outcome;
    }
    const std::int64_t room_at = shards_.sweep(microseconds_of(now));
    if (const auto outcome = try_take(links, now)) {
        return *outcome;
    }
    return refuse(links, Wait{std::max<std::int64_t>(1, room_at - microseconds_of(now))});
}

// Nothing: there is no room for a new key.
std::optional<CheckOutcome> LimitChains::try_take(Links& links, Moment now) {
    const LinkLocks locks{links};
    find_links(links, now);
    if (!are_affordable(links)) {
        return Unexpected{LimitFault::InvalidCost};
    }
    std::array<PlanStanding, kPlansPerCheckMax> standings;
    std::transform(links.begin(), links.end(), standings.begin(), [now](const Link& link) {
        return PlanStanding{link.plan, link.look(now)};
    });
    Verdict verdict = judge({standings.data(), links.count});
    if (!verdict.allowed) {
        const auto passes = [&](std::size_t i, Moment at) {
            const Link& link = links.items[i];
            return link.is_overridden() && !link.plan->traits().shadow ? link.first_pass(at) : at;
        };
        verdict.retry_after = pass_together(links.count, now + verdict.retry_after, passes) - now;
        return verdict;
    }
    // All that may want memory comes before the first charge.
    if (!shards_.add_absent(links)) {
        return std::nullopt;
    }
    charge(links, {standings.data(), links.count}, now, verdict);
    return verdict;
}

// REQUIRES: the locks of the links.
void LimitChains::charge(Links& links, std::span<const PlanStanding> standings, Moment now,
                         Verdict& verdict) {
    for (std::size_t i = 0; i < links.count; ++i) {
        const Link& link = links.items[i];
        if (link.cost == 0 || !standings[i].standing.allowed) {
            continue;  // A peek, or a plan in shadow mode that denies.
        }
        if (std::holds_alternative<Concurrency>(*link.rule) && verdict.lease == LeaseId{}) {
            verdict.lease = leases_.next();  // One for all.
        }
        charge_to(*link.entry, *link.rule, link.ask(now, verdict.lease));
        link.shard->earliest_idle = std::min(link.shard->earliest_idle, link.entry->idle_at);
    }
}

// The first of those speaks that need room.
CheckOutcome LimitChains::refuse(const Links& links, Wait until_room) {
    refused_.fetch_add(1, std::memory_order_relaxed);
    const auto wanted =
        std::count_if(links.begin(), links.end(), [](const Link& link) { return link.cost > 0; });
    if (when_full_ == WhenKeysFull::Fail || static_cast<std::size_t>(wanted) > keys_max_) {
        return Unexpected{LimitFault::Full};
    }
    const Link* const wanting = std::find_if(links.begin(), links.end(), [](const Link& link) {
        return link.cost > 0 && (link.entry == nullptr || is_list(*link.rule));
    });
    const auto plan = static_cast<std::uint32_t>(wanting == links.end() ? 0 : wanting - links.begin());
    const Tokens limit = links.items[plan].plan->limit();
    return Verdict{false, false, plan, limit, 0, until_room, until_room, LeaseId{}};
}

}  // namespace sluice
