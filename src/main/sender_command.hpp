#pragma once

#include <iosfwd>

#include "main/command_line.hpp"
#include "main/exit_code.hpp"

namespace sluice {

// `sluice sender`: sends what is on the topic of the gateway, as one of its group, until SIGTERM. Says on
// stderr that it is ready; a Kafka that is away it waits for.
ExitCode run_sender(const Invocation& invocation, const Environment& variables, std::ostream& errors);

}  // namespace sluice
