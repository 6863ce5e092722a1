#pragma once

#include "app/limits/limit_service.hpp"
#include "app/slots/slot_service.hpp"
#include "door/http/server_desk.hpp"

namespace sluice::http {

// How /readyz asks the services, which outlive what is given.
AskedPart asked_part(SlotService& slots);
AskedPart asked_part(LimitService& limits);

}  // namespace sluice::http
