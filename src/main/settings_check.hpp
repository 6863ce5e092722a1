#pragma once

#include <map>
#include <string>
#include <string_view>

#include "main/settings.hpp"

namespace sluice {

// Every built setting by its key.
using SettingEntries = std::map<std::string_view, SettingInForce>;

// The values that the texts stand for. Fails with one sentence about the first that is wrong.
Result<Settings, std::string> check_settings(const SettingEntries& entries);

}  // namespace sluice
