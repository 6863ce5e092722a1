#pragma once

#include <iosfwd>

#include "main/command_line.hpp"
#include "main/exit_code.hpp"

namespace sluice {

// `sluice batch FILE`: asks for the slots of the events in a file, in one request.
ExitCode assign_batch(const Invocation& invocation, std::ostream& out, std::ostream& errors);

}  // namespace sluice
