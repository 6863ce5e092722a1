#include "app/dispatch/settlement_of.hpp"

#include <utility>

namespace sluice {
namespace {

using After = decltype(Settlement::after);

After after(const Work& work, const Delivery& delivery, const AttemptFacts& facts, Random& random) {
    switch (delivery.kind) {
        case Delivery::Kind::Done: return Settlement::Done{};
        case Delivery::Kind::NotSent: return Settlement::NotSent{};
        case Delivery::Kind::Refused: return Settlement::Failed{};
        case Delivery::Kind::Gone:
            // Where there is no endpoint, nothing could ever be resumed.
            return work.route.endpoint.empty() ? After{Settlement::Failed{}}
                                               : After{Settlement::Parked{facts.node}};
        case Delivery::Kind::Failed: break;
    }
    const auto pause = facts.schedule.pause_after(work.tries, delivery.retry_after, random);
    return pause ? After{Settlement::Again{*pause}} : After{Settlement::Failed{}};
}

}  // namespace

Settlement settlement_of(const Work& work, Delivery delivery, const AttemptFacts& facts, Random& random) {
    Settlement settlement{
        .event_id = work.event_id, .attempt = work.attempts, .after = after(work, delivery, facts, random)};
    settlement.line = {.attempt = work.attempts,
                       .status = delivery.status,
                       .latency = facts.latency,
                       .by = facts.node,
                       .error = std::move(delivery.error),
                       .excerpt = std::move(delivery.excerpt)};
    return settlement;
}

}  // namespace sluice
