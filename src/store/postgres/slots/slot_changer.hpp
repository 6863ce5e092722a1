#pragma once

#include "app/slots/slot_ledger.hpp"
#include "store/postgres/client/patient_caller.hpp"
#include "store/postgres/slots/config_reader.hpp"
#include "store/postgres/slots/window_mirror.hpp"

namespace sluice::postgres {

// Cancels and moves slots, each by one call of a SQL function.
// Thread safety: all of it.
class SlotChanger {
public:
    // All of them must outlive it.
    SlotChanger(PatientCaller& caller, ConfigReader& configs, WindowMirror& mirror, LedgerWorld world)
        : caller_{caller}, configs_{configs}, mirror_{mirror}, world_{world} {}

    SlotOutcome cancel(const CancelSlot& command);
    SlotOutcome move(const MoveSlot& command);

private:
    SlotOutcome change(const EventId& event_id, const Statement& statement, const Parameters& parameters);
    SlotOutcome explain_exhausted(const MoveSlot& command, SlotOutcome refused);
    // Null: there is none, or it cannot be read.
    ConfigRef active(const ConfigName& name);

    PatientCaller& caller_;
    ConfigReader& configs_;
    WindowMirror& mirror_;
    const LedgerWorld world_;
};

}  // namespace sluice::postgres
