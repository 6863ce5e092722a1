#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

#include "main/command_line.hpp"
#include "main/exit_code.hpp"

namespace sluice {

// `sluice windows`: how full the windows of a config are; in a terminal with a bar for each.
ExitCode show_windows(const Invocation& invocation, std::ostream& out, std::ostream& errors);

// The server's list of windows, a line and a bar for each. Text that is no such list comes back as it is.
std::string window_bars(std::string_view text);

}  // namespace sluice
