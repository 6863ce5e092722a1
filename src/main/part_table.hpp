#pragma once

#include <array>

#include "door/http/dispatch_desk.hpp"
#include "door/http/gateway_desk.hpp"
#include "door/http/limit_desk.hpp"
#include "door/http/slot_desk.hpp"
#include "main/dispatch_part.hpp"
#include "main/gateway_part.hpp"
#include "main/limits_part.hpp"
#include "main/part.hpp"
#include "main/slots_part.hpp"

namespace sluice {

// Every part of the daemon, in the order in which they start and stop. A new capability adds its line here.
// The daemon asks all_parts() for them. A source that reads names and routes of the table in constant
// expressions alone need not be linked with what opens the parts: assemble_openapi is one.
inline constexpr std::array kPartTable{
    PartPlan{"slot", http::slot_routes, open_slots_part},
    PartPlan{"limit", http::limit_routes, open_limits_part},
    PartPlan{"dispatch", http::dispatch_routes, open_dispatch_part},
    PartPlan{"gateway", http::gateway_routes, open_gateway_part},
};

}  // namespace sluice
