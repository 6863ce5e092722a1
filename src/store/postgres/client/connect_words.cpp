#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include <libpq-fe.h>

#include "store/postgres/client/connect_words_internal.hpp"

namespace sluice::postgres {
namespace {

using std::chrono::milliseconds;

// A peer that is gone without a word is noticed within about 25 s of idleness, or by the data it fails to
// acknowledge.
struct Keepalive {
    const char* idle;
    const char* interval;
    const char* count;
};
constexpr Keepalive kKeepalive{"10", "5", "3"};

struct FreeOptions {
    void operator()(PQconninfoOption* options) const { PQconninfoFree(options); }
};

Failure malformed() {
    return {kNotReached,
            "the address of the PostgreSQL server is malformed: it should read "
            "postgres://user:password@host:port/database, other characters of the password as %XX",
            true, false};
}

// A password that is not percent-encoded ends up in the host or in the port, and those are shown.
bool misread(const ConnectWords& words) {
    const auto value_of = [&words](const char* key) {
        const auto found = words.find(key);
        return found == words.end() ? std::string{} : found->second;
    };
    const auto port = value_of("port");
    return value_of("host").find('@') != std::string::npos ||
           port.find_first_not_of("0123456789,") != std::string::npos;
}

using SessionWords = std::vector<std::pair<std::string, std::string>>;

// What a session is set to. Statements are planned once, and by index: see sluice.assign_slot. A client that
// is gone without a word is noticed by the server as the server is by the client, below.
SessionWords session_words(const ConnectSettings& settings) {
    const auto ms = [](milliseconds time) { return std::to_string(time.count()); };
    return {{"default_transaction_isolation", "read committed"},
            {"client_min_messages", "warning"},
            {"TimeZone", "UTC"},
            {"DateStyle", "ISO"},
            {"plan_cache_mode", "force_generic_plan"},
            {"enable_seqscan", "off"},
            {"jit", "off"},
            {"array_nulls", "on"},
            {"statement_timeout", ms(settings.statement_timeout)},
            {"lock_timeout", ms(settings.lock_timeout)},
            {"idle_in_transaction_session_timeout", ms(settings.idle_in_transaction_timeout)},
            {"tcp_keepalives_idle", kKeepalive.idle},
            {"tcp_keepalives_interval", kKeepalive.interval},
            {"tcp_keepalives_count", kKeepalive.count},
            {"tcp_user_timeout", ms(settings.statement_timeout + settings.silence_margin)},
            {"sluice.node", std::to_string(settings.node)},
            {kSessionMark, "on"}};
}

// The dsn's own options come first: of two with one name the later counts, and the client's waiting is built
// on these time-outs.
std::string session_options(const ConnectSettings& settings, const std::string& of_dsn) {
    std::string options = of_dsn;
    for (const auto& [name, value] : session_words(settings)) {
        options += " -c " + name + "=";
        for (const char letter : value) {
            options += letter == ' ' ? "\\ " : std::string{letter};
        }
    }
    return options;
}

std::vector<std::string> split(std::string_view list) {
    std::vector<std::string> parts;
    for (;;) {
        const auto comma = std::min(list.find(','), list.size());
        parts.emplace_back(list.substr(0, comma));
        if (comma == list.size()) {
            return parts;
        }
        list.remove_prefix(comma + 1);
    }
}

std::string whole_seconds(milliseconds time) {
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(time);
    return std::to_string(std::max<std::int64_t>(2, seconds.count()));
}

}  // namespace

Result<ConnectWords, Failure> connect_words(const ConnectSettings& settings) {
    // libpq's own complaint is thrown away: it quotes what it could not read.
    const std::unique_ptr<PQconninfoOption, FreeOptions> parsed{
        PQconninfoParse(settings.dsn.c_str(), nullptr)};
    if (!parsed) {
        return Unexpected{malformed()};
    }
    ConnectWords words;
    for (const PQconninfoOption* word = parsed.get(); word->keyword != nullptr; ++word) {
        if (word->val != nullptr) {
            words.emplace(word->keyword, word->val);
        }
    }
    if (misread(words)) {
        return Unexpected{malformed()};
    }
    words.emplace("application_name", "sluice");
    words.emplace("target_session_attrs", "read-write");
    words.emplace("keepalives_idle", kKeepalive.idle);
    words.emplace("keepalives_interval", kKeepalive.interval);
    words.emplace("keepalives_count", kKeepalive.count);
    words.emplace("tcp_user_timeout",
                  std::to_string((settings.statement_timeout + settings.silence_margin).count()));
    words["client_encoding"] = "UTF8";
    words["connect_timeout"] = whole_seconds(settings.connect_timeout);
    words["options"] = session_options(settings, words["options"]);
    return words;
}

std::string session_script(const ConnectSettings& settings) {
    std::string script;
    for (const auto& [name, value] : session_words(settings)) {
        script.append("select set_config('").append(name).append("', '").append(value).append("', false);");
    }
    return script;
}

std::vector<ConnectWords> each_host(const ConnectWords& words) {
    const auto hosts = words.find("host");
    const std::size_t count = hosts == words.end() ? 1 : split(hosts->second).size();
    std::vector<ConnectWords> all(count, words);
    for (std::size_t i = 0; i < count; ++i) {
        for (const char* key : {"host", "port", "hostaddr"}) {
            const auto word = all[i].find(key);
            const auto parts = word == all[i].end() ? std::vector<std::string>{} : split(word->second);
            if (parts.size() == count) {
                word->second = parts[i];
            }
        }
    }
    return all;
}

bool leave_out_host(ConnectWords& words, std::string_view host, std::string_view port) {
    auto hosts = split(words["host"]);
    auto ports = split(words["port"]);
    auto addresses = split(words["hostaddr"]);
    if (hosts.size() < 2) {
        return false;
    }
    for (std::size_t i = 0; i < hosts.size(); ++i) {
        const std::string& its_port = ports.size() == 1 ? ports.front() : ports[i];
        if (hosts[i] != host || (!its_port.empty() && its_port != port)) {
            continue;
        }
        for (auto& [key, parts] : {std::pair{"host", &hosts}, {"port", &ports}, {"hostaddr", &addresses}}) {
            if (parts->size() > 1) {
                parts->erase(parts->begin() + static_cast<std::ptrdiff_t>(i));
            }
            std::string joined = parts->front();
            for (std::size_t part = 1; part < parts->size(); ++part) {
                joined += "," + (*parts)[part];
            }
            words[key] = joined;
        }
        return true;
    }
    return false;
}

}  // namespace sluice::postgres
