#include "app/slots/known_event.hpp"

#include "app/slots/slot_errors.hpp"

namespace sluice {

SlotOutcome answer_known(const Slot& slot, const ConfigName& slot_config, const AssignSlot& command,
                         Bodies bodies) {
    if (slot.state == SlotState::Cancelled) {
        return Unexpected{event_cancelled(slot.event_id)};
    }
    if (bodies == Bodies::MustAgree) {
        // A move changed the requested time; the body that asked first is then as good as the new one.
        const bool same =
            command.is_readable && (slot.requested == command.ask.requested || slot.revision > 0) &&
            slot.weight == command.ask.weight && slot.max_delay == command.ask.max_delay &&
            slot_config == command.config_name && (slot.work == WorkMark::None) == (command.work == nullptr);
        if (!same) {
            return Unexpected{different_body(slot.event_id)};
        }
    }
    return Granted{slot, true};
}

bool is_same_work(const WorkOrder& stored, const WorkOrder& brought) {
    return stored.target == brought.target && stored.payload == brought.payload &&
           stored.expires_after == brought.expires_after;
}

}  // namespace sluice
