#pragma once

#include "app/slots/slot_errors.hpp"
#include "store/postgres/client/patient_caller.hpp"

namespace sluice::postgres {

// Who tells the log of failures that callers see as "unavailable".
inline constexpr const char* kStoreComponent = "PostgresSlotStore";

// What a caller is told who can do nothing about it; the log gets the reason.
inline SlotError unavailable(PatientCaller& caller, const Failure& failure) {
    caller.tell(failure);
    return store_unavailable();
}

}  // namespace sluice::postgres
