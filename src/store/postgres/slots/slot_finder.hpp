#pragma once

#include "app/slots/slot_store.hpp"
#include "store/postgres/client/patient_caller.hpp"

namespace sluice::postgres {

// The slot of an event, and what it was before.
Result<SlotStory, SlotError> find_slot(PatientCaller& caller, const EventId& event_id);

}  // namespace sluice::postgres
