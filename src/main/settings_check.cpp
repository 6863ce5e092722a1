#include "main/settings_check.hpp"

#include <algorithm>
#include <charconv>

#include "files/setting_values.hpp"

namespace sluice {
namespace {

using Entries = SettingEntries;
using Failure = Unexpected<std::string>;

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
            if (entry.spec->secrecy == Secrecy::InHeaders && holds_masked_endpoints(entry.value)) {
                fail(key, "a header is masked; write it out, or name a file that holds it, as file:PATH.");
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

    Settings::Kafka kafka() {
        constexpr Duration kTimeoutFewest{100};
        constexpr Duration kTimeoutMost = std::chrono::minutes{5};
        constexpr std::size_t kReplicasMost = 32'767;
        Settings::Kafka result{
            .brokers = text("kafka"),
            .publish_timeout = duration("kafka.publishTimeout"),
            .replication = static_cast<int>(whole_number("kafka.replication", 1, kReplicasMost)),
        };
        if (result.publish_timeout < kTimeoutFewest || result.publish_timeout > kTimeoutMost) {
            fail("kafka.publishTimeout", "it lies between 100ms and 5m.");
        }
        for (std::size_t at = 0; at < result.brokers.size();) {
            const std::size_t end = std::min(result.brokers.find(',', at), result.brokers.size());
            const auto broker = net::parse_host_port(result.brokers.substr(at, end - at));
            if (!broker || broker->port == 0 || end + 1 == result.brokers.size()) {
                fail("kafka", "'" + result.brokers + "' is not host:port, or several of them with commas.");
                break;
            }
            at = end + 1;
        }
        return result;
    }

    Settings::Gateway gateway() {
        const Settings::Gateway result{.sender = yes_or_no("gateway.sender")};
        if (!result.sender && text("kafka").empty()) {
            fail("gateway.sender", "without Kafka nobody else could send; give --kafka, or leave it out.");
        }
        return result;
    }

    Settings::Dispatch dispatch() {
        constexpr Duration kTimeoutMost = std::chrono::minutes{10};
        Settings::Dispatch result{
            .webhook_timeout = duration("dispatch.webhook.timeout"),
            .allow = list("dispatch.webhook.allow"),
            .secret_files = list("dispatch.webhook.secretFiles"),
            .endpoints = {},
        };
        if (result.webhook_timeout > kTimeoutMost) {
            fail("dispatch.webhook.timeout", "a call may take 10 minutes at most.");
        }
        if (entries_.at("dispatch.endpoints").is_set) {
            result.endpoints = good("dispatch.endpoints", endpoints_setting(text("dispatch.endpoints")));
        }
        return result;
    }

    [[nodiscard]] const std::string& error() const { return error_; }

private:
    std::vector<std::string> list(std::string_view key) {
        return entries_.at(key).is_set ? good(key, list_setting(text(key))) : std::vector<std::string>{};
    }

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

}  // namespace

Result<Settings, std::string> check_settings(const SettingEntries& entries) {
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
        .kafka = checking.kafka(),
        .gateway = checking.gateway(),
        .dispatch = checking.dispatch(),
    };
    checking.refuse_masks();
    if (!checking.error().empty()) {
        return Failure{checking.error()};
    }
    return settings;
}

}  // namespace sluice
