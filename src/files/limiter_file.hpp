#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "core/limits/plan.hpp"

namespace sluice {

// What a limiter of the library runs with. The defaults are those of `sluice serve`.
struct LimiterSettings {
    std::vector<PlanDraft> plans{};
    std::string store = "memory";  // Or the address of a Redis, or a postgres:// one.
    struct Limits {
        std::size_t keys_max = 1'000'000;
        std::size_t list_bytes_max = std::size_t{256} << 20U;
        Duration deadline{50};
        Duration fail_open_time{std::chrono::minutes{5}};
        std::size_t fail_open_tokens = 1'000'000;
        Duration deny_cache{0};  // 0: none.
        Duration lease_time{std::chrono::seconds{1}};
    } limits{};
    struct Redis {
        Duration timeout{50};
        bool allow_eviction = false;
        std::string tls_ca{};  // File. Empty: the system's.
    } redis{};
    struct Postgres {
        bool migrate = true;
    } postgres{};
};

// Reads a YAML file with a list `plans:`, a `store:`, and settings under their names in `sluice serve`:
// `limits: {deadline: 20ms}`. Fails with one sentence that names the file and where it can the line: as
// read_plans_file() and read_settings_file() do, on a key that is unknown (naming the nearest known one), and
// on a value that is wrong. Never shows a password.
Result<LimiterSettings, std::string> read_limiter_file(const std::string& path);

}  // namespace sluice
