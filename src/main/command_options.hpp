#pragma once

#include <vector>

#include "main/command_table.hpp"

// Options that many commands have.
namespace sluice {

OptionSpec output();
OptionSpec event_id();
OptionSpec config_name();

// A command's own options, and those of whoever calls a server.
std::vector<OptionSpec> with_server(std::vector<OptionSpec> own);
// The same for what needs the admin's token.
std::vector<OptionSpec> with_admin(std::vector<OptionSpec> own);

}  // namespace sluice
