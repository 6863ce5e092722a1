#pragma once

#include <iosfwd>

#include "main/command_line.hpp"
#include "main/exit_code.hpp"

namespace sluice {

// Runs the server until SIGTERM or SIGINT, or prints the settings. What is wrong is one sentence on `errors`.
ExitCode serve(const Invocation& invocation, const Environment& variables, std::ostream& out,
               std::ostream& errors);

}  // namespace sluice
