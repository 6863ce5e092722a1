#pragma once

#include "main/part.hpp"

namespace sluice {

// Limits, with the plans file and the store that the settings name.
Result<std::unique_ptr<Part>, std::string> open_limits_part(const PartWorld& world);

}  // namespace sluice
