#pragma once

#include <span>

#include "app/gateway/gateway_service.hpp"
#include "door/http/route.hpp"

namespace sluice::http {

// What the routes of the gateway work with. All of it outlives the server.
struct GatewayDesk : Desk {
    GatewayDesk(GatewayService& service, Log& lines) : gateway{service}, log{lines} {}

    GatewayService& gateway;
    Log& log;
};

std::span<const Route> gateway_routes();

Answer set_user(const GatewayDesk& desk, const Request& request);
Answer get_user(const GatewayDesk& desk, const Request& request);
Answer send_message(const GatewayDesk& desk, const Request& request);
Answer get_message(const GatewayDesk& desk, const Request& request);

}  // namespace sluice::http
