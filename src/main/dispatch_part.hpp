#pragma once

#include "main/part.hpp"

namespace sluice {

// Sends the work of slots at its time.
Result<std::unique_ptr<Part>, std::string> open_dispatch_part(const PartWorld& world);

}  // namespace sluice
