#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "core/limits/plan.hpp"
#include "files/limit_settings.hpp"

namespace sluice {

// What a limiter of the library runs with. The defaults are those of `sluice serve`.
struct LimiterSettings : LimitSettings {
    std::vector<PlanDraft> plans{};
    std::string store = "memory";  // Or the address of a Redis, or a postgres:// one.
};

// Reads a YAML file with a list `plans:`, a `store:`, and settings under their names in `sluice serve`:
// `limits: {deadline: 20ms}`. Fails with one sentence that names the file and where it can the line: as
// read_plans_file() and read_settings_file() do, on a key that is unknown (naming the nearest known one), and
// on a value that is wrong. Never shows a password.
Result<LimiterSettings, std::string> read_limiter_file(const std::string& path);

}  // namespace sluice
