#pragma once

#include <string_view>

namespace sluice {

// For example "0.1.0".
std::string_view version();

}  // namespace sluice
