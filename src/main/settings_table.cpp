#include "main/settings_table.hpp"

#include <algorithm>

namespace sluice {
namespace {

constexpr std::string_view kMask = "****";
constexpr Reach kAll = Reach::Everywhere;
constexpr Reach kNoFlag = Reach::NoFlag;

constexpr std::array kTable{
    SettingSpec{"listen", "127.0.0.1:8080", "HOST:PORT", "Where HTTP is served; [address]:port for IPv6"},
    SettingSpec{"data", "./data", "DIR", "Folder of the embedded store"},
    SettingSpec{"store",
                "embedded",
                "STORE",
                "Where slots live: embedded, memory (forgotten at exit), or postgres://user@host/database",
                kAll,
                Support::Built,
                Secrecy::InUrl,
                {"embedded", "memory"}},
    SettingSpec{"redis", "", "ADDRESS",
                "Where limits live: host:port, redis://user:password@host:port, rediss://..., "
                "redis+sentinel://h1:p,h2:p/master or redis+cluster://h1:p,h2:p",
                kAll, Support::Built, Secrecy::InUrl},
    SettingSpec{
        "kafka", "", "BROKERS",
        "Brokers of Kafka, for messages of the gateway and work that goes to topics: host:port,host:port"},
    SettingSpec{"plans", "", "FILE",
                "File with the plans of limits, usually plans.yaml; SIGHUP reads it again"},
    SettingSpec{"tokenFile", "", "FILE", "File with the admin token: at least 32 bytes on its first line"},
    SettingSpec{"tlsCert", "", "FILE",
                "Certificate that HTTPS is served with, its chain behind it; SIGHUP reads it again"},
    SettingSpec{"tlsKey", "", "FILE", "Key of the certificate, without a passphrase"},
    SettingSpec{"tlsClientCa", "", "FILE",
                "Authority of client certificates; clients without one of them are refused"},
    SettingSpec{"logLevel",
                "info",
                "LEVEL",
                "debug, info, warn or error",
                kAll,
                Support::Built,
                Secrecy::Open,
                {"debug", "info", "warn", "error"}},
    SettingSpec{
        "logFormat", "text", "FORMAT", "text or json", kAll, Support::Built, Secrecy::Open, {"text", "json"}},
    SettingSpec{"store.reserve", "", "SIZE",
                "Free space, like 64MiB, below which the embedded store takes no new slots; by default the "
                "larger of 64MiB and 2 % of the file system",
                kNoFlag},
    SettingSpec{"store.cache", "", "SIZE",
                "Memory, like 256MiB, for the filters of the embedded store, which take 1.75 bytes a slot "
                "at least; by default an eighth of the machine's, 64MiB to 512MiB",
                kNoFlag},
    SettingSpec{"slots.defaultConfig", "default", "NAME", "Config of requests that name none", kNoFlag},
    SettingSpec{"slots.configCacheTtl", "PT5S", "DURATION", "How long a config may be used without a look",
                kNoFlag},
    SettingSpec{"slots.batchMax", "256", "N", "Requests that one write of the store serves", kNoFlag},
    SettingSpec{"slots.strict", "false", "BOOL", "Refuse another body for a known eventId", kNoFlag},
    SettingSpec{"slots.maxWindowsInChunk", "100", "N",
                "Windows that get their counters at once, on PostgreSQL, in pools made from now on", kNoFlag},
    SettingSpec{"slots.postgres.mode",
                "batch",
                "WAY",
                "How slots are assigned on PostgreSQL: batch, or function (one event, one call)",
                kNoFlag,
                Support::Built,
                Secrecy::Open,
                {"batch", "function"}},
    SettingSpec{"slots.retention", "", "DURATION",
                "Forget slots this long after their time, in days like P90D; by default they are kept",
                kNoFlag},
    SettingSpec{"limits.keysMax", "1000000", "N", "Keys that the memory store of limits may hold", kNoFlag},
    SettingSpec{"limits.listBytesMax", "268435456", "N",
                "Bytes that its sliding windows and leases may take together", kNoFlag},
    SettingSpec{"limits.deadline", "PT0.05S", "DURATION",
                "How long a check may wait for its store before its plans' on_store_failure answers",
                kNoFlag},
    SettingSpec{"limits.failOpenTime", "PT5M", "DURATION",
                "How long plans that fail open do so in one outage; then they deny", kNoFlag},
    SettingSpec{"limits.failOpenTokens", "1000000", "N",
                "How many tokens a plan that fails open lets through in one outage; then it denies", kNoFlag},
    SettingSpec{"limits.denyCache", "", "DURATION",
                "How long a server believes a denial of a store that others share; by default not at all",
                kNoFlag},
    SettingSpec{"limits.leaseTime", "PT1S", "DURATION",
                "How long a server may hold tokens that it took for a plan with a lease", kNoFlag},
    SettingSpec{"redis.timeout", "50ms", "DURATION", "How long a call of Redis may take", kNoFlag},
    SettingSpec{"redis.allowEviction", "false", "BOOL",
                "Use a Redis that may evict keys, and so forget limits that are still running", kNoFlag},
    SettingSpec{"redis.tlsCa", "", "FILE",
                "Certificates that a rediss:// server is verified by; by default the system's", kNoFlag},
    SettingSpec{"postgres.pool.min", "5", "N", "Connections that are kept open", kNoFlag},
    SettingSpec{"postgres.pool.max", "30", "N", "Connections that may be open", kNoFlag},
    SettingSpec{"postgres.migrateAtStart", "true", "BOOL", "Make or update the schema at start", kNoFlag},
    SettingSpec{"kafka.publishTimeout", "PT5S", "DURATION",
                "How long Kafka may take to acknowledge a message", kNoFlag},
    SettingSpec{"kafka.replication", "1", "N",
                "On how many brokers the gateway's topic stands, if it is made by this server", kNoFlag},
    SettingSpec{"gateway.sender", "true", "BOOL",
                "With Kafka: whether this server sends what is on the gateway's topic; false leaves it to "
                "'sluice sender'",
                kNoFlag},
    SettingSpec{"dispatch.webhook.timeout", "PT15S", "DURATION", "How long a webhook may take to answer",
                kNoFlag},
    SettingSpec{"dispatch.webhook.allow",
                "",
                "NETWORKS",
                "Networks like 10.0.0.0/8 that webhooks may reach although they are private; several are a "
                "list, in the variable separated by commas",
                kNoFlag,
                Support::Built,
                Secrecy::Open,
                {},
                Form::List},
    SettingSpec{"dispatch.webhook.secretFiles",
                "",
                "FILES",
                "Files with the secrets that webhooks are signed with, the newest first; SIGHUP reads them "
                "again",
                kNoFlag,
                Support::Built,
                Secrecy::Open,
                {},
                Form::List},
    SettingSpec{
        "dispatch.endpoints",
        "",
        "LIST",
        "Settings for URLs with the same beginning: url, secretFiles, headers, timeout, maxConcurrent, "
        "proxy; the longest beginning counts",
        kNoFlag,
        Support::Built,
        Secrecy::InHeaders,
        {},
        Form::List},

    SettingSpec{"temporal", "", "", "", kAll, Support::Later},
    SettingSpec{"opensearch", "", "", "", kAll, Support::Later, Secrecy::InUrl},
    SettingSpec{"grpcListen", "", "", "", kAll, Support::Later},
    SettingSpec{"respListen", "", "", "", kAll, Support::Later},
    SettingSpec{"descriptors", "", "", "", kAll, Support::Later},
    SettingSpec{"temporal.address", "", "", "", kNoFlag, Support::Later},
    SettingSpec{"temporal.namespace", "", "", "", kNoFlag, Support::Later},
    SettingSpec{"temporal.taskQueue", "", "", "", kNoFlag, Support::Later},
    SettingSpec{"dispatch.downstream", "", "", "", kNoFlag, Support::Later},
};

bool is_capital(char letter) { return letter >= 'A' && letter <= 'Z'; }

}  // namespace

std::string SettingSpec::flag() const {
    if (reach == Reach::NoFlag) {
        return {};
    }
    std::string text = "--";
    for (const char letter : key) {
        if (is_capital(letter)) {
            text += '-';
        }
        text += is_capital(letter) ? static_cast<char>(letter - 'A' + 'a') : letter;
    }
    return text;
}

std::string SettingSpec::variable() const {
    std::string text = "SLUICE_";
    for (const char letter : key) {
        if (is_capital(letter)) {
            text += '_';
        }
        const bool small = letter >= 'a' && letter <= 'z';
        text += letter == '.' ? '_' : small ? static_cast<char>(letter - 'a' + 'A') : letter;
    }
    return text;
}

std::string SettingSpec::file_variable() const {
    return secrecy == Secrecy::Open ? std::string{} : variable() + "_FILE";
}

std::span<const SettingSpec> settings_table() { return kTable; }

const SettingSpec* find_setting(std::string_view key) {
    for (const SettingSpec& spec : kTable) {
        if (spec.key == key) {
            return &spec;
        }
    }
    return nullptr;
}

std::string mask_secret(std::string_view value) {
    std::string text{value};
    // As a parameter: postgres://db/x?password=..., or "host=db password=...".
    constexpr std::string_view kParameter = "password=";
    if (const std::size_t found = text.find(kParameter); found != std::string::npos) {
        const std::size_t begin = found + kParameter.size();
        const std::size_t end = std::min(text.find_first_of("& ", begin), text.size());
        text.replace(begin, end - begin, kMask);
    }
    const std::size_t scheme = text.find("://");
    if (scheme == std::string::npos) {
        return text;
    }
    // A password may hold an unencoded '@' or '/': everything up to the last '@' is taken for it.
    const std::size_t colon = text.find(':', scheme + 3);
    const std::size_t at = text.rfind('@');
    if (colon != std::string::npos && at != std::string::npos && colon < at) {
        text.replace(colon + 1, at - colon - 1, kMask);
    }
    return text;
}

bool holds_mask(std::string_view value) {
    return value.find(":****@") != std::string_view::npos ||
           value.find("password=****") != std::string_view::npos;
}

std::string place_of(std::string_view url) {
    const std::size_t question = url.find('?');
    const std::size_t at = url.rfind('@');
    if (at != std::string_view::npos && question < at) {
        return {};
    }
    const std::size_t scheme = url.find("://");
    const std::size_t begin = at != std::string_view::npos       ? at + 1
                              : scheme != std::string_view::npos ? scheme + 3
                                                                 : 0;
    const std::string_view place = url.substr(begin, question - begin);
    return place.empty() ? std::string{} : " at " + std::string{place};
}

}  // namespace sluice
