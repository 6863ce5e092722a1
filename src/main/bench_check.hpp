#pragma once

#include <iosfwd>

#include "main/command_line.hpp"
#include "main/exit_code.hpp"

namespace sluice {

// Runs `bench check`: progress goes to `progress`, the figures to `out`. Ok only when every check was
// answered, by 200 or 429.
ExitCode bench_check(const Invocation& invocation, std::ostream& out, std::ostream& progress);

}  // namespace sluice
