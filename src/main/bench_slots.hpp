#pragma once

#include <iosfwd>

#include "main/command_line.hpp"
#include "main/exit_code.hpp"

namespace sluice {

// Runs `bench slots`: progress goes to `progress`, the figures to `out`. Ok only when every request got a
// slot.
ExitCode bench_slots(const Invocation& invocation, std::ostream& out, std::ostream& progress);

}  // namespace sluice
