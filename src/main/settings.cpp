#include "main/settings.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

#include "base/nearest.hpp"
#include "files/setting_values.hpp"
#include "files/settings_file.hpp"
#include "files/text_file.hpp"

namespace sluice {
namespace {

using Entries = std::map<std::string_view, SettingInForce>;
using Failure = Unexpected<std::string>;

constexpr std::string_view kPrefix = "SLUICE_";
constexpr std::string_view kConfigVariable = "SLUICE_CONFIG";
// Variables of other commands, and of the project's own tools.
constexpr std::array<std::string_view, 3> kForeign{kConfigVariable, "SLUICE_SERVER", "SLUICE_CA"};
constexpr std::array<std::string_view, 3> kForeignPrefixes{"SLUICE_TEST_", "SLUICE_SERVICES",
                                                           "SLUICE_CLIENT_"};

Failure not_supported(const std::string& name) {
    return Failure{name + " is not supported by this version yet."};
}

Failure unknown(const std::string& what, const std::string& name, const std::vector<std::string>& known) {
    const std::string near = near_of(name, known);
    return Failure{what + " '" + name + "' is unknown; " +
                   (near.empty() ? "'sluice serve --print-config' lists all there are."
                                 : "the nearest known one is '" + near + "'.")};
}

Result<std::string, std::string> first_line(const std::string& variable, const std::string& path) {
    auto line = read_first_line(path);
    if (!line) {
        return Failure{"The file " + path + " that " + variable + " names cannot be read: " + line.error() +
                       "."};
    }
    return line;
}

Result<void, std::string> apply_file(const std::string& path, Entries& entries) {
    const auto read = read_settings_file(path);
    if (!read) {
        return Failure{read.error()};
    }
    for (const FileEntry& entry : *read) {
        const std::string origin = path + ", line " + std::to_string(entry.line);
        const SettingSpec* spec = find_setting(entry.key);
        if (spec == nullptr) {
            std::vector<std::string> known;
            for (const SettingSpec& setting : settings_table()) {
                known.emplace_back(setting.key);
            }
            return unknown(origin + ": the key", entry.key, known);
        }
        if (spec->support == Support::Later) {
            return not_supported(origin + ": the key '" + entry.key + "'");
        }
        if (!entry.single) {
            return Failure{origin + ": '" + entry.key + "' takes one value, not a list."};
        }
        entries.insert_or_assign(spec->key, SettingInForce{spec, entry.value, origin, true});
    }
    return {};
}

bool is_ours(std::string_view variable) {
    return variable.starts_with(kPrefix) &&
           std::none_of(kForeignPrefixes.begin(), kForeignPrefixes.end(),
                        [&](std::string_view prefix) { return variable.starts_with(prefix); }) &&
           std::find(kForeign.begin(), kForeign.end(), variable) == kForeign.end();
}

Result<void, std::string> apply_variable(const std::string& name, const std::string& text, Entries& entries) {
    std::vector<std::string> known{std::string{kConfigVariable}};
    for (const SettingSpec& spec : settings_table()) {
        known.push_back(spec.variable());
        if (name != spec.variable() && name != spec.file_variable()) {
            continue;
        }
        if (spec.support == Support::Later) {
            return not_supported(name);
        }
        auto value =
            name == spec.variable() ? Result<std::string, std::string>{text} : first_line(name, text);
        if (!value) {
            return Failure{value.error()};
        }
        entries.insert_or_assign(spec.key, SettingInForce{&spec, *value, name, true});
        return {};
    }
    return unknown("The variable", name, known);
}

Result<void, std::string> apply_variables(const Environment& variables, Entries& entries) {
    for (const auto& [name, text] : variables) {
        if (!is_ours(name) || text.empty()) {
            continue;
        }
        if (const auto applied = apply_variable(name, text, entries); !applied) {
            return Failure{applied.error()};
        }
    }
    const auto is_set = [&variables](const std::string& name) {
        const auto found = variables.find(name);
        return found != variables.end() && !found->second.empty();
    };
    for (const SettingSpec& spec : settings_table()) {
        const std::string from_file = spec.file_variable();
        if (is_set(from_file) && is_set(spec.variable())) {
            return Failure{spec.variable() + " and " + from_file + " are both set; set one of them."};
        }
    }
    return {};
}

Result<void, std::string> apply_flags(const FlagValues& flags, Entries& entries) {
    for (const SettingSpec& spec : settings_table()) {
        const std::string flag = spec.flag();
        const auto found = flag.empty() ? flags.end() : flags.find(flag.substr(2));
        if (found == flags.end()) {
            continue;
        }
        if (spec.support == Support::Later) {
            return not_supported(flag);
        }
        entries.insert_or_assign(spec.key, SettingInForce{&spec, found->second, flag, true});
    }
    return {};
}

// Turns texts into values, and keeps the first complaint.
class Checking {
public:
    explicit Checking(const Entries& entries) : entries_{entries} {}

    template <class Value>
    Value choice(std::string_view key, const std::vector<std::pair<std::string_view, Value>>& choices,
                 const std::string& more = {}) {
        const std::string& given = text(key);
        std::string listed;
        for (const auto& [name, value] : choices) {
            if (given == name) {
                return value;
            }
            listed += (listed.empty() ? "" : ", ") + std::string{name};
        }
        fail(key, "'" + mask_secret(given) + "' is none of: " + listed + more + ".");
        return choices.front().second;
    }

    net::HostPort host_port(std::string_view key) {
        const auto parsed = net::parse_host_port(text(key));
        if (!parsed) {
            fail(key, parsed.error());
            return {};
        }
        return *parsed;
    }

    std::string path(std::string_view key) {
        const SettingInForce& entry = entries_.at(key);
        return entry.is_set ? good(key, path_setting(entry.value)) : entry.value;
    }

    std::optional<net::TlsFiles> tls() {
        net::TlsFiles files{path("tlsCert"), path("tlsKey"), path("tlsClientCa")};
        const bool both = !files.certificate.empty() && !files.key.empty();
        if (!both && !(files.certificate + files.key + files.client_ca).empty()) {
            fail(!files.certificate.empty() ? "tlsCert"
                 : !files.key.empty()       ? "tlsKey"
                                            : "tlsClientCa",
                 "TLS needs a certificate and its key; give --tls-cert and --tls-key.");
        }
        return both ? std::optional{std::move(files)} : std::nullopt;
    }

    ConfigName config_name(std::string_view key) {
        const auto name = ConfigName::make(text(key));
        if (!name) {
            fail(key, "a config's name is 1 to 128 bytes of text without control characters.");
        }
        return name ? *name : *ConfigName::make("default");
    }

    Duration duration(std::string_view key) { return good(key, duration_setting(text(key))); }

    std::optional<std::uint64_t> size(std::string_view key) {
        return entries_.at(key).is_set ? std::optional{good(key, size_setting(text(key)))} : std::nullopt;
    }

    std::size_t whole_number(std::string_view key, std::size_t least, std::size_t most) {
        return good(key, number_setting(text(key), {least, most}));
    }

    // The address of a PostgreSQL; empty when the store is another.
    std::string postgres_address() {
        const std::string& given = text("store");
        const bool is_one = given.starts_with("postgres://") || given.starts_with("postgresql://");
        return is_one ? given : std::string{};
    }

    StoreKind store() {
        if (!postgres_address().empty()) {
            return StoreKind::Postgres;
        }
        return choice<StoreKind>("store", {{"embedded", StoreKind::Embedded}, {"memory", StoreKind::Memory}},
                                 ", postgres://user@host:port/database");
    }

    // What --print-config wrote has no passwords; used as it is, it would be refused far away from here.
    void refuse_masks() {
        for (const auto& [key, entry] : entries_) {
            if (entry.spec->secrecy == Secrecy::InUrl && holds_mask(entry.value)) {
                fail(key, "its password is masked; write it out, or put the whole value into the file that " +
                              entry.spec->file_variable() + " names.");
            }
        }
    }

    bool yes_or_no(std::string_view key) { return good(key, truth_setting(text(key))); }

    // In whole days, since no duration on the wire is longer than 31 of them.
    std::optional<Duration> retention() {
        constexpr int kDaysMost = 36'500;
        const SettingInForce& entry = entries_.at("slots.retention");
        if (!entry.is_set) {
            return std::nullopt;
        }
        int days = 0;
        const std::string& given = entry.value;
        const char* const end = given.data() + given.size();
        const bool is_iso = given.starts_with('P') && given.ends_with('D');
        const auto [read, error] = is_iso || given.ends_with('d')
                                       ? std::from_chars(given.data() + (is_iso ? 1 : 0), end - 1, days)
                                       : std::from_chars_result{end, std::errc::invalid_argument};
        if (error != std::errc{} || read != end - 1 || days < 1 || days > kDaysMost) {
            fail("slots.retention",
                 "'" + given + "' is not a number of days like 90d or P90D, at most 36500.");
        }
        return std::chrono::days{days};
    }

    // What the daemon and a limiter of the library have in common.
    LimitSettings shared() {
        LimitSettings settings;
        for (const LimitSettingKey& key : limit_setting_keys()) {
            if (!entries_.at(key.name).is_set) {
                continue;
            }
            if (const auto taken = key.take(settings, text(key.name)); !taken) {
                fail(key.name, taken.error());
            }
        }
        return settings;
    }

    [[nodiscard]] std::string redis_address() const { return text("redis"); }

    Settings::Postgres postgres(bool migrate) {
        // Each of the four workers may hold one while one of them reads counters on another.
        constexpr std::size_t kConnectionsFewest = 5;
        constexpr std::size_t kConnectionsMost = 1'000;
        constexpr std::size_t kChunkMost = 10'000;
        Settings::Postgres result{
            .dsn = postgres_address(),
            .function_way = choice<bool>("slots.postgres.mode", {{"batch", false}, {"function", true}}),
            .windows_in_chunk = whole_number("slots.maxWindowsInChunk", 1, kChunkMost),
            .pool_min = whole_number("postgres.pool.min", 0, kConnectionsMost),
            .pool_max = whole_number("postgres.pool.max", kConnectionsFewest, kConnectionsMost),
            .migrate = migrate,
        };
        if (result.pool_min > result.pool_max) {
            fail("postgres.pool.min", "it is larger than postgres.pool.max.");
        }
        return result;
    }

    [[nodiscard]] const std::string& error() const { return error_; }

private:
    [[nodiscard]] const std::string& text(std::string_view key) const { return entries_.at(key).value; }

    template <class Value>
    Value good(std::string_view key, const Result<Value, std::string>& read) {
        if (!read) {
            fail(key, read.error());
        }
        return read ? *read : Value{};
    }

    void fail(std::string_view key, const std::string& sentence) {
        if (!error_.empty()) {
            return;
        }
        const SettingInForce& entry = entries_.at(key);
        const bool named = entry.origin.find(", line ") != std::string::npos;
        error_ = entry.origin + (named ? ": " + std::string{key} : std::string{}) + ": " + sentence;
    }

    const Entries& entries_;
    std::string error_;
};

Result<Settings, std::string> check(const Entries& entries) {
    constexpr std::size_t kBatchMost = 10'000;
    Checking checking{entries};
    const LimitSettings shared = checking.shared();
    Settings settings{
        .listen = checking.host_port("listen"),
        .data = checking.path("data"),
        .store = checking.store(),
        .embedded = {.reserve = checking.size("store.reserve"), .cache = checking.size("store.cache")},
        .plans = checking.path("plans"),
        .token_file = checking.path("tokenFile"),
        .tls = checking.tls(),
        .log_level = checking.choice<LogLevel>("logLevel", {{"debug", LogLevel::Debug},
                                                            {"info", LogLevel::Info},
                                                            {"warn", LogLevel::Warn},
                                                            {"error", LogLevel::Error}}),
        .log_format =
            checking.choice<LogFormat>("logFormat", {{"text", LogFormat::Text}, {"json", LogFormat::Json}}),
        .default_config = checking.config_name("slots.defaultConfig"),
        .config_cache_ttl = checking.duration("slots.configCacheTtl"),
        .batch_max = checking.whole_number("slots.batchMax", 1, kBatchMost),
        .strict = checking.yes_or_no("slots.strict"),
        .retention = checking.retention(),
        .limits = shared.limits,
        .redis = {shared.redis, checking.redis_address()},
        .postgres = checking.postgres(shared.postgres.migrate),
    };
    checking.refuse_masks();
    if (!checking.error().empty()) {
        return Failure{checking.error()};
    }
    return settings;
}

Entries defaults() {
    Entries entries;
    for (const SettingSpec& spec : settings_table()) {
        if (spec.support == Support::Built) {
            entries.emplace(spec.key, SettingInForce{&spec, std::string{spec.default_value}, "default",
                                                     !spec.default_value.empty()});
        }
    }
    return entries;
}

std::string settings_path(const FlagValues& flags, const Environment& variables) {
    if (const auto flag = flags.find("config"); flag != flags.end()) {
        return flag->second;
    }
    const auto variable = variables.find(std::string{kConfigVariable});
    return variable == variables.end() ? std::string{} : variable->second;
}

}  // namespace

Result<SettingsInForce, std::string> load_settings(const FlagValues& flags, const Environment& variables) {
    Entries entries = defaults();
    if (const std::string path = settings_path(flags, variables); !path.empty()) {
        if (const auto applied = apply_file(path, entries); !applied) {
            return Failure{applied.error()};
        }
    }
    if (const auto applied = apply_variables(variables, entries); !applied) {
        return Failure{applied.error()};
    }
    if (const auto applied = apply_flags(flags, entries); !applied) {
        return Failure{applied.error()};
    }
    auto settings = check(entries);
    if (!settings) {
        return Failure{settings.error()};
    }
    SettingsInForce in_force{std::move(*settings), {}};
    for (const SettingSpec& spec : settings_table()) {
        if (const auto found = entries.find(spec.key); found != entries.end()) {
            in_force.entries.push_back(found->second);
        }
    }
    return in_force;
}

}  // namespace sluice
