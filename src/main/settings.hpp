#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/log.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "core/slots/slot.hpp"
#include "files/endpoint_settings.hpp"
#include "files/limit_settings.hpp"
#include "main/environment.hpp"
#include "main/settings_table.hpp"
#include "net/host_port.hpp"
#include "net/tls_server.hpp"

namespace sluice {

enum class StoreKind { Embedded, Memory, Postgres };
enum class LogFormat { Text, Json };

// What `sluice serve` runs with, checked.
struct Settings {
    net::HostPort listen;
    std::string data;
    StoreKind store;
    struct Embedded {
        std::optional<std::uint64_t> reserve;  // Bytes. Absent: by the size of the file system.
        std::optional<std::uint64_t> cache;    // Bytes. Absent: by the size of the memory.
    } embedded;
    std::string plans;       // File of plans. Empty: none.
    std::string token_file;  // Empty: none.
    std::optional<net::TlsFiles> tls;
    LogLevel log_level;
    LogFormat log_format;
    ConfigName default_config;
    Duration config_cache_ttl;
    std::size_t batch_max;
    bool strict;
    std::optional<Duration> retention;  // Absent: slots are kept for ever.
    LimitSettings::Limits limits;
    struct Redis : LimitSettings::Redis {
        std::string address;  // Empty: none.
    } redis;
    struct Postgres {
        std::string dsn;  // Empty unless it is the store.
        bool function_way;
        std::size_t windows_in_chunk;
        std::size_t pool_min;
        std::size_t pool_max;
        bool migrate;
    } postgres;
    struct Kafka {
        std::string brokers;  // "host:port,host:port". Empty: none.
        Duration publish_timeout;
        int replication;  // Of topics that are made here.
    } kafka;
    struct Gateway {
        bool sender;  // With Kafka: reads the topic, and sends what comes.
    } gateway;
    struct Dispatch {
        Duration webhook_timeout;
        std::vector<std::string> allow;         // Networks.
        std::vector<std::string> secret_files;  // Of webhooks that no endpoint is named for.
        std::vector<EndpointSetting> endpoints;
    } dispatch;
};

// A setting's text and where it came from: "default", "--listen", "SLUICE_LISTEN", "sluice.yaml, line 3".
struct SettingInForce {
    const SettingSpec* spec;
    std::string value;
    std::string origin;
    bool is_set = false;  // False: no value, and no default either.
};

struct SettingsInForce {
    Settings settings;
    std::vector<SettingInForce> entries;  // One per built setting, in the table's order.
};

// Flags by their names without dashes, as typed: {"listen", "127.0.0.1:0"}.
using FlagValues = std::map<std::string, std::string>;

// Puts flags, variables, the settings file (flag --config or SLUICE_CONFIG) and defaults together: a flag
// beats a variable, which beats the file. Variables that do not start with SLUICE_, start with SLUICE_TEST_
// or belong to other commands are left alone; an empty one counts as not set. Fails with one sentence on
// whatever is unknown (naming the nearest known), wrong, or not supported yet.
Result<SettingsInForce, std::string> load_settings(const FlagValues& flags, const Environment& variables);

// The settings as a settings file that reads back as the same, with where each came from as a comment. Only
// passwords are masked, and a masked one is refused when it is read.
std::string print_settings(const SettingsInForce& in_force);

// The text of a setting, with passwords masked.
std::string shown_value(const SettingInForce& entry);

}  // namespace sluice
