#include <algorithm>
#include <memory>

#include <libpq-fe.h>

#include "store/postgres/connect_words_internal.hpp"

namespace sluice::postgres {
namespace {

using std::chrono::milliseconds;

struct FreeOptions {
    void operator()(PQconninfoOption* options) const { PQconninfoFree(options); }
};

Failure malformed() {
    return {"08001",
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

std::string option(const char* name, milliseconds value) {
    return std::string{" -c "} + name + "=" + std::to_string(value.count());
}

// The options of the session. The dsn's own come first: of two with one name the later counts, and the
// client's waiting is built on these time-outs. Statements are planned once, and by index: see
// sluice.assign_slot.
std::string session_options(const ConnectSettings& settings, const std::string& of_dsn) {
    return of_dsn + " -c default_transaction_isolation=read\\ committed -c client_min_messages=warning" +
           " -c TimeZone=UTC -c DateStyle=ISO -c plan_cache_mode=force_generic_plan" +
           " -c enable_seqscan=off -c jit=off -c array_nulls=on" +
           option("statement_timeout", settings.statement_timeout) +
           option("lock_timeout", settings.lock_timeout) +
           option("idle_in_transaction_session_timeout", settings.idle_in_transaction_timeout) + " " +
           settings.session_options;
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
    // A peer that is gone without a word is noticed within about 25 s of idleness, or by the data it fails to
    // acknowledge.
    words.emplace("keepalives_idle", "10");
    words.emplace("keepalives_interval", "5");
    words.emplace("keepalives_count", "3");
    words.emplace("tcp_user_timeout",
                  std::to_string((settings.statement_timeout + settings.silence_margin).count()));
    words["client_encoding"] = "UTF8";
    words["connect_timeout"] = whole_seconds(settings.connect_timeout);
    words["options"] = session_options(settings, words["options"]);
    return words;
}

}  // namespace sluice::postgres
