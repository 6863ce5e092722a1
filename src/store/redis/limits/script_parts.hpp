#pragma once

#include <span>
#include <string_view>

namespace sluice::redis {

// The files of the folder lua/, as the build has put them into the program.
std::string_view server_time_lua();
// All others, in the order in which they make one script.
std::span<const std::string_view> limit_script_parts();

}  // namespace sluice::redis
