#include "main/parts.hpp"

#include "main/part_table.hpp"

namespace sluice {

std::span<const PartPlan> all_parts() { return kPartTable; }

}  // namespace sluice
