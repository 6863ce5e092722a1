#pragma once

#include <vector>

#include "main/command_table.hpp"

namespace sluice {

// The commands of dispatch: work, dead, dispatch.
std::vector<CommandSpec> dispatch_commands();

// What an event's work is told by.
std::vector<OptionSpec> work_options();
// How the work of a config's events goes out.
std::vector<OptionSpec> config_dispatch_options();

}  // namespace sluice
