#include "store/postgres/slots/slot_changer.hpp"

#include "app/slots/slot_errors.hpp"
#include "store/postgres/slots/slot_finder.hpp"
#include "store/postgres/slots/slot_rows.hpp"

namespace sluice::postgres {
namespace {

#define SLUICE_CHANGED_SLOT(call)                                                                     \
    "select " SLUICE_SLOT_COLUMNS                                                                     \
    ", changed.repeated, (changed.freed).pool_nm, (changed.freed).window_ms, (changed.freed).slot_ct" \
    " from sluice." call                                                                              \
    " changed, lateral (select (changed.slot).*) d,"                                                  \
    " lateral sluice.config_version(d.rl_wndw_config_id) c"
constexpr Statement kCancel{"cancel_slot", SLUICE_CHANGED_SLOT("cancel_slot($1, sluice.from_ms($2), $3)")};
constexpr Statement kMove{"move_slot", SLUICE_CHANGED_SLOT("move_slot($1, $2, sluice.from_ms($3), $4)")};
#undef SLUICE_CHANGED_SLOT

SlotError refusal_of(const EventId& event_id, const Failure& failure) {
    switch (failure.meaning()) {
        case Meaning::UnknownEvent: return unknown_event(event_id);
        case Meaning::Cancelled: return event_cancelled(event_id);
        case Meaning::Exhausted: return {SlotFault::Exhausted, failure.message};
        case Meaning::AlreadyDispatched: return already_dispatched(event_id);
        case Meaning::BadArgument: return {SlotFault::WeightAboveCap, failure.message};
        default: return failure.contended() ? contended() : store_unavailable();
    }
}

}  // namespace

SlotOutcome SlotChanger::cancel(const CancelSlot& command) {
    return change(command.event_id, kCancel,
                  Parameters{}
                      .add(command.event_id.text())
                      .add(to_ms(world_.clock.now()))
                      .add(std::string_view{command.by}));
}

SlotOutcome SlotChanger::move(const MoveSlot& command) {
    auto outcome = change(command.event_id, kMove,
                          Parameters{}
                              .add(command.event_id.text())
                              .add(to_ms(command.requested))
                              .add(to_ms(world_.clock.now()))
                              .add(std::string_view{command.by}));
    if (!outcome && outcome.error().fault == SlotFault::Exhausted) {
        outcome = explain_exhausted(command, std::move(outcome));
    }
    return outcome;
}

SlotOutcome SlotChanger::change(const EventId& event_id, const Statement& statement,
                                const Parameters& parameters) {
    const auto rows = caller_.insist(statement, parameters);
    if (!rows) {
        return Unexpected{refusal_of(event_id, rows.error())};
    }
    auto stored = rows->empty() ? std::nullopt : read_slot(*rows, 0);
    if (!stored) {
        return Unexpected{store_unavailable()};
    }
    // This node's next request must find the room; the others are told by the server.
    if (const auto pool = PoolName::make(rows->text(0, kSlotColumns + 1))) {
        mirror_.learn_room(*pool, Instant{Duration{rows->number(0, kSlotColumns + 2).value_or(0)}},
                           static_cast<Places>(rows->number(0, kSlotColumns + 3).value_or(0)));
    }
    Granted changed{std::move(stored->slot), rows->boolean(0, kSlotColumns).value_or(false)};
    if (!changed.repeated && changed.slot.state == SlotState::Assigned) {  // It was moved.
        const ConfigRef config = active(stored->config_name);
        changed.depth = config != nullptr ? depth_of(changed.slot, config->policy().grid) : 0;
    }
    return changed;
}

SlotOutcome SlotChanger::explain_exhausted(const MoveSlot& command, SlotOutcome refused) {
    const auto story = find_slot(caller_, command.event_id);
    if (!story) {
        return refused;
    }
    const ConfigRef config = active(story->config_name);
    if (config == nullptr) {
        return refused;
    }
    const SlotAsk ask{command.requested, story->slot.weight, story->slot.max_delay};
    return Unexpected{no_room(config->policy(), asked_at(config->policy(), ask, world_.clock.now()))};
}

ConfigRef SlotChanger::active(const ConfigName& name) {
    auto config = configs_.active(name);
    return config ? std::move(*config) : nullptr;
}

}  // namespace sluice::postgres
