#pragma once

#include <iosfwd>

#include "main/command_line.hpp"
#include "main/exit_code.hpp"

namespace sluice {

// Runs a command that is one request to a running server: `assign`, `slot ...`, `config ...`, `plan ...`.
ExitCode run_client_command(const Invocation& invocation, std::ostream& out, std::ostream& errors);

}  // namespace sluice
