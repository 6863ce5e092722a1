#pragma once

#include "main/part.hpp"

namespace sluice {

// Where the store keeps rows of the gateway: embedded or in memory.
bool has_gateway(const Settings& settings);

// Messages within the limits of their users, and the built-in sender.
// REQUIRES: has_gateway().
Result<std::unique_ptr<Part>, std::string> open_gateway_part(const PartWorld& world);

}  // namespace sluice
