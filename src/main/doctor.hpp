#pragma once

#include <iosfwd>

#include "main/command_line.hpp"
#include "main/exit_code.hpp"

namespace sluice {

// Checks settings, server and data folder, and says for each finding what to do. Changes nothing, but opening
// a data folder replays its log, and --accept-loss gives up what that has lost. Ok only when all is well.
ExitCode doctor(const Invocation& invocation, const Environment& variables, std::ostream& out,
                std::ostream& errors);

}  // namespace sluice
