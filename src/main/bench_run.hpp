#pragma once

#include <iosfwd>

#include "main/client_call.hpp"
#include "main/load_run.hpp"

namespace sluice {

// What --connections, --duration, --count and --rate ask for; the requests are still missing. Fails with one
// sentence, also when the server is on another machine and --yes is missing.
Result<LoadPlan, std::string> read_load_plan(const Invocation& invocation, const CalledServer& server);

// Runs the load, says on `progress` how it goes and on `out` how it went, also when Ctrl-C ends it early.
// `what` is what is asked for, in the plural: "slots".
ExitCode run_bench(const Invocation& invocation, const LoadPlan& plan, std::string_view what,
                   std::pair<std::ostream&, std::ostream&> out_and_progress);

}  // namespace sluice
