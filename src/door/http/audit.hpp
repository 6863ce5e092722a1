#pragma once

#include <string>

#include "base/log.hpp"
#include "door/http/exchange.hpp"

namespace sluice::http {

// Tells the log who changed what.
inline void audit(Log& log, const Request& request, const std::string& what) {
    log.write(LogLevel::Info, "Audit", request.remote + " " + what);
}

}  // namespace sluice::http
