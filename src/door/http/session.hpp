#pragma once

#include <boost/asio/awaitable.hpp>

#include "door/http/body_budget.hpp"
#include "door/http/connection.hpp"
#include "door/http/http_server.hpp"
#include "door/http/routes.hpp"

namespace sluice::http {

// What all sessions of a server share.
struct SessionWorld {
    ServerOptions options;
    AdminGate& gate;
    Log& log;
    Router router;
    BodyBudget large_bodies{};
};

// Serves one client until it leaves, errs, or the server drains. Requests are answered one after the other,
// in order, so that what a client sends ahead waits in its own socket.
boost::asio::awaitable<void> serve_connection(Connection connection, SessionWorld& world);

// Tells a client that there are too many already.
boost::asio::awaitable<void> turn_away(Connection connection);

}  // namespace sluice::http
