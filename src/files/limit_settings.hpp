#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/time.hpp"

namespace sluice {

// What limits run with, in the daemon and in a limiter of the library alike: the same names, defaults and
// bounds.
struct LimitSettings {
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

struct LimitSettingKey {
    std::string_view name;  // As in files: limits.deadline.
    // Fails with a sentence that quotes the text; the caller says which setting it is.
    Result<void, std::string> (*take)(LimitSettings& into, const std::string& text);
};

// All of them.
std::span<const LimitSettingKey> limit_setting_keys();

}  // namespace sluice
