#pragma once

#include <iosfwd>

#include "main/command_line.hpp"
#include "main/exit_code.hpp"

namespace sluice {

// `sluice wait`: asks a server until it is ready, or the time is up.
ExitCode wait_until_ready(const Invocation& invocation, std::ostream& out, std::ostream& errors);

}  // namespace sluice
