#include "files/limiter_file.hpp"

#include <algorithm>
#include <array>

#include "base/nearest.hpp"
#include "files/setting_values.hpp"
#include "files/yaml_file_internal.hpp"

namespace sluice {
namespace {

using Failure = Unexpected<std::string>;
using Taken = Result<void, std::string>;

template <class Value>
Taken put(Value& place, const Result<Value, std::string>& read) {
    if (!read) {
        return Failure{read.error()};
    }
    place = *read;
    return {};
}

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

Taken put_path(std::string& place, const std::string& text) {
    if (text.empty()) {
        return Failure{"an empty path names nothing."};
    }
    place = text;
    return {};
}

struct Key {
    std::string_view name;
    Taken (*take)(LimiterSettings&, const std::string& text);
};

constexpr std::array kKeys{
    Key{"store", [](LimiterSettings& into, const std::string& text) { return put_store(into.store, text); }},
    Key{"limits.keysMax",
        [](LimiterSettings& into, const std::string& text) {
            return put(into.limits.keys_max, number_setting(text, kLimitKeysRange));
        }},
    Key{"limits.listBytesMax",
        [](LimiterSettings& into, const std::string& text) {
            return put(into.limits.list_bytes_max, number_setting(text, kLimitListBytesRange));
        }},
    Key{"limits.deadline",
        [](LimiterSettings& into, const std::string& text) {
            return put(into.limits.deadline, duration_setting(text));
        }},
    Key{"limits.failOpenTime",
        [](LimiterSettings& into, const std::string& text) {
            return put(into.limits.fail_open_time, duration_setting(text));
        }},
    Key{"limits.failOpenTokens",
        [](LimiterSettings& into, const std::string& text) {
            return put(into.limits.fail_open_tokens, number_setting(text, kFailOpenTokensRange));
        }},
    Key{"limits.denyCache",
        [](LimiterSettings& into, const std::string& text) {
            return text == "0" ? Taken{} : put(into.limits.deny_cache, duration_setting(text));
        }},
    Key{"limits.leaseTime",
        [](LimiterSettings& into, const std::string& text) {
            return put(into.limits.lease_time, duration_setting(text));
        }},
    Key{"redis.timeout",
        [](LimiterSettings& into, const std::string& text) {
            return put(into.redis.timeout, duration_setting(text));
        }},
    Key{"redis.allowEviction",
        [](LimiterSettings& into, const std::string& text) {
            return put(into.redis.allow_eviction, truth_setting(text));
        }},
    Key{"redis.tlsCa",
        [](LimiterSettings& into, const std::string& text) { return put_path(into.redis.tls_ca, text); }},
    Key{"postgres.migrateAtStart",
        [](LimiterSettings& into, const std::string& text) {
            return put(into.postgres.migrate, truth_setting(text));
        }},
};

std::string unknown_key(const std::string& key) {
    std::vector<std::string> known{"plans"};
    for (const Key& each : kKeys) {
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
    const auto key =
        std::find_if(kKeys.begin(), kKeys.end(), [&](const Key& each) { return each.name == entry.key; });
    if (key == kKeys.end()) {
        return unknown_key(entry.key);
    }
    if (!entry.single) {
        return "'" + entry.key + "' takes one value, not a list.";
    }
    const Taken taken = key->take(into, entry.value);
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
