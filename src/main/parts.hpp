#pragma once

#include <span>

#include "main/part.hpp"

namespace sluice {

// Every part of the daemon, as main/part_table.hpp has them.
std::span<const PartPlan> all_parts();

}  // namespace sluice
