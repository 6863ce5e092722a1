#include "files/limiter_file.hpp"

#include <algorithm>

#include "base/nearest.hpp"
#include "files/yaml_file_internal.hpp"

namespace sluice {
namespace {

using Failure = Unexpected<std::string>;
using Taken = Result<void, std::string>;

Taken put_store(std::string& store, const std::string& text) {
    const bool known = text == "memory" || text.starts_with("redis") || text.starts_with("postgres://") ||
                       text.starts_with("postgresql://");
    if (!known) {
        return Failure{
            "it is memory, or the address of a store: redis://host:port, rediss://..., "
            "redis+sentinel://..., redis+cluster://... or postgres://user@host/database."};
    }
    store = text;
    return {};
}

std::string unknown_key(const std::string& key) {
    std::vector<std::string> known{"plans", "store"};
    for (const LimitSettingKey& each : limit_setting_keys()) {
        known.emplace_back(each.name);
    }
    const std::string near = near_of(key, known);
    return "the key '" + key + "' is unknown" +
           (near.empty() ? "." : "; the nearest known one is '" + near + "'.");
}

// What is wrong with one entry; the caller says where it stands. Empty: nothing.
std::string take(const FileEntry& entry, LimiterSettings& into) {
    if (entry.key == "plans") {
        return entry.single ? "'plans' takes a list." : "";  // The list is read by itself.
    }
    const auto keys = limit_setting_keys();
    const auto key = std::ranges::find(keys, entry.key, &LimitSettingKey::name);
    const bool is_store = entry.key == "store";
    if (!is_store && key == keys.end()) {
        return unknown_key(entry.key);
    }
    if (!entry.single) {
        return "'" + entry.key + "' takes one value, not a list.";
    }
    const Taken taken = is_store ? put_store(into.store, entry.value) : key->take(into, entry.value);
    return taken ? "" : entry.key + ": " + taken.error();
}

std::string place_of(const FileEntry& entry, const std::string& path) {
    return path + ", line " + std::to_string(entry.line) + ": ";
}

Result<LimiterSettings, std::string> read_root(const YAML::Node& root, const std::string& path) {
    const auto entries = flattened(root, path);
    if (!entries) {
        return Failure{entries.error()};
    }
    LimiterSettings settings;
    for (const FileEntry& entry : *entries) {
        if (const std::string wrong = take(entry, settings); !wrong.empty()) {
            return Failure{place_of(entry, path) + wrong};
        }
    }
    if (!root.IsMap() || !root["plans"]) {
        return Failure{path + ": it must hold a list, 'plans:'."};
    }
    auto plans = plans_of(root["plans"], path);
    if (!plans) {
        return Failure{plans.error()};
    }
    settings.plans = *std::move(plans);
    return settings;
}

}  // namespace

Result<LimiterSettings, std::string> read_limiter_file(const std::string& path) {
    return read_yaml_file<LimiterSettings>(path, "limiter file",
                                           [&](const YAML::Node& root) { return read_root(root, path); });
}

}  // namespace sluice
