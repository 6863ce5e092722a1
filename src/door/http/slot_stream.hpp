#pragma once

#include <boost/asio/awaitable.hpp>

#include "door/http/connection.hpp"
#include "door/http/request_head.hpp"
#include "door/http/session.hpp"

namespace sluice::http {

// Serves POST /api/v1/slots/stream: events come in as lines, slots go out as lines in the same order while
// more come in. Memory is constant: when the client does not read, nothing more is read from it. False when
// the connection is at its end.
boost::asio::awaitable<bool> stream_slots(Connection& connection, const RequestHead& head,
                                          SessionWorld& world);

}  // namespace sluice::http
