#pragma once

#include <cstdint>
#include <optional>

#include "app/dispatch/take_judge.hpp"
#include "core/dispatch/work.hpp"

namespace sluice {

using FlightId = std::uint64_t;

// A work that this process has claimed, until its outcome is known.
struct Flight {
    enum class Stage : std::uint8_t {
        Planned,  // Waits for its time.
        Handed,   // Its carrier has it.
        Writing,  // It is leaving, or has left.
        Refused,  // Its carrier was told that it must not leave.
    };
    Work work;
    WorkOrder order;  // Its carrier's, once it is handed over.
    Reservation reserved;
    SteadyTime scheduled;  // The work's own time.
    Stage stage = Stage::Planned;
    SteadyTime began{};  // While it is Writing.
};

}  // namespace sluice
