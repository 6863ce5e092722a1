#pragma once

#include <memory>

#include "app/dispatch/carrier.hpp"
#include "base/log.hpp"

namespace sluice {

// Of a longer payload only the beginning is written.
inline constexpr std::size_t kLoggedPayloadMax = 4096;

// Carries work to the log: one line for each, with the event and its payload, escaped. `log` outlives it.
std::unique_ptr<Carrier> make_log_carrier(Log& log);

}  // namespace sluice
