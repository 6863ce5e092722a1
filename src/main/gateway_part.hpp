#pragma once

#include "main/part.hpp"

namespace sluice {

// Messages within the limits of their users, and the built-in sender.
Result<std::unique_ptr<Part>, std::string> open_gateway_part(const PartWorld& world);

}  // namespace sluice
