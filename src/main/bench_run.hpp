#pragma once

#include <iosfwd>

#include "main/command_line.hpp"
#include "main/exit_code.hpp"
#include "main/load_run.hpp"

namespace sluice {

// What --connections, --duration, --count, --rate and --server ask for; the requests are still missing.
Result<LoadPlan, std::string> read_load_plan(const Invocation& invocation);

// Runs the load, says on `progress` how it goes and on `out` how it went. `what` is what is asked for, in the
// plural: "slots".
ExitCode run_bench(const Invocation& invocation, const LoadPlan& plan, std::string_view what,
                   std::pair<std::ostream&, std::ostream&> out_and_progress);

// A sentence on `errors`, and the code.
ExitCode bench_failed(std::ostream& errors, ExitCode code, const std::string& sentence);

}  // namespace sluice
