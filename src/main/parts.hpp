#pragma once

#include <span>

#include "main/part.hpp"

namespace sluice {

// Every part of the daemon, in the order in which they start and stop. A new capability adds its line here.
std::span<const PartPlan> all_parts();

}  // namespace sluice
