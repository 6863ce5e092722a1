#pragma once

#include <string>

#include "base/result.hpp"

namespace sluice {

// All bytes of a file. Fails with the reason alone, without a full stop: "No such file or directory".
Result<std::string, std::string> read_text_file(const std::string& path);

// The first line, without its end. Fails in the same way, also when there is none.
Result<std::string, std::string> read_first_line(const std::string& path);

}  // namespace sluice
