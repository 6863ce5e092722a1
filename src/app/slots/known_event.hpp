#pragma once

#include "app/slots/slot_store.hpp"

namespace sluice {

// How a store treats bodies that differ from the first one of their event.
enum class Bodies { FirstWins, MustAgree };

// What a command gets whose event has a slot already, given under the config of that name.
SlotOutcome answer_known(const Slot& slot, const ConfigName& slot_config, const AssignSlot& command,
                         Bodies bodies);

// Whether a command brings the work that its event has. Who asked, for a trace, and how a carrier reads the
// target are no part of it.
bool is_same_work(const WorkOrder& stored, const WorkOrder& brought);

}  // namespace sluice
