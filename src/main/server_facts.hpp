#pragma once

#include "main/settings.hpp"

namespace sluice {

// What a running server tells of itself at /admin/settings: JSON, with passwords masked.
std::string server_facts_json(const SettingsInForce& in_force, Instant now);

}  // namespace sluice
