#pragma once

#include <memory>

#include "app/gateway/gateway_tables.hpp"

namespace sluice {

// In memory, for trying things and for tests: nothing outlives the process. What is old is forgotten by the
// times in the rows: requests and messages once newer ones have come.
std::unique_ptr<GatewayTables> make_memory_gateway_tables();

}  // namespace sluice
