#pragma once

#include <map>
#include <string>

namespace sluice {

using Environment = std::map<std::string, std::string>;

// The process's variables.
Environment read_environment();

}  // namespace sluice
