#pragma once

#include "main/part.hpp"

namespace sluice {

// Slots, in the store that the settings name.
Result<std::unique_ptr<Part>, std::string> open_slots_part(const PartWorld& world);

}  // namespace sluice
