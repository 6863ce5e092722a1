#pragma once

#include <string>

#include "base/log.hpp"
#include "door/http/exchange.hpp"

namespace sluice::http {

// Who asks, as audits name it: an address, and the name of the token that let it in. REQUIRES: a route that
// tells its handler who asks.
inline std::string who(const Request& request) {
    return request.token.empty() ? request.remote : request.remote + " " + std::string{request.token};
}

// Tells the log who changed what.
inline void audit(Log& log, const Request& request, const std::string& what) {
    log.write(LogLevel::Info, "Audit", request.remote + " " + what);
}

}  // namespace sluice::http
