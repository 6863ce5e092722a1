#pragma once

#include <iosfwd>

#include "main/command_line.hpp"
#include "main/exit_code.hpp"

namespace sluice {

// Runs `assign`, `slot ...`, `quote` or `config ...` against a running server.
ExitCode run_client_command(const Invocation& invocation, std::ostream& out, std::ostream& errors);

}  // namespace sluice
