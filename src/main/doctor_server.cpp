#include "main/doctor_server.hpp"

#include <boost/json/parse.hpp>
#include <fmt/format.h>

#include "base/iso8601.hpp"
#include "main/human_output.hpp"
#include "main/version.hpp"

namespace sluice {
namespace {

namespace json = boost::json;

constexpr std::chrono::seconds kPatience{5};

std::string url_of(const CalledServer& server) { return server.url.text(); }

Finding check_readiness(const CalledServer& server) {
    const std::string url = url_of(server);
    const auto response = server.send({"GET", "/readyz"}, kPatience);
    if (!response) {
        return {"server", false, response.error().sentence, response.error().advice};
    }
    if (response->status != 200) {
        return {"server", false, url + " answers but is not ready: " + response->body,
                "Look at its log on stderr: it says which part cannot work and why."};
    }
    const std::string status = json_field(response->body, "status");
    if (status != "ok") {
        return {"server", false, url + " is ready, but " + status + ": " + response->body,
                "Look at its log on stderr for the part that is named."};
    }
    return {"server", true, url + " is ready."};
}

std::string text_at(const json::object& object, std::string_view name) {
    const auto* value = object.if_contains({name.data(), name.size()});
    const auto* text = value == nullptr ? nullptr : value->if_string();
    return text == nullptr ? std::string{} : std::string{text->data(), text->size()};
}

std::int64_t number_at(const json::object& object, std::string_view name) {
    const auto* value = object.if_contains({name.data(), name.size()});
    return value == nullptr || !value->is_int64() ? 0 : value->get_int64();
}

Finding check_files(const json::object& facts, const std::string& url) {
    constexpr std::int64_t kFew = 4'096;
    const std::int64_t most = number_at(facts, "filesMax");
    const std::int64_t open = number_at(facts, "filesOpen");
    const std::string told =
        url + " has " + std::to_string(open) + " files open, of " + std::to_string(most) + " that it may.";
    if (most < kFew || open > most / 5 * 4) {
        return {
            "open files", false, told,
            "Raise the limit (LimitNOFILE= in its unit, or 'ulimit -n'), and look who keeps connections."};
    }
    return {"open files", true, told};
}

Finding check_clock(const json::object& facts, Instant asked, Instant answered, const std::string& url) {
    constexpr Duration kMost{1'000};
    const auto told = parse_instant(text_at(facts, "time"));
    const Duration off = !told              ? Duration{0}
                         : *told < asked    ? asked - *told
                         : *told > answered ? *told - answered
                                            : Duration{0};
    const std::string words =
        "The clock of " + url + " differs from this one by " + std::to_string(off.count()) + " ms.";
    return off > kMost ? Finding{"server clock", false, words, "Let NTP set both clocks."}
                       : Finding{"server clock", true, words};
}

Finding check_version(const std::string& theirs, const std::string& url) {
    const std::string own{version()};
    const std::string told = url + " is version " + theirs;
    return theirs == own ? Finding{"version", true, told + ", as this program."}
                         : Finding{"version", false, told + ", this program is " + own + ".",
                                   "Restart the server if it was upgraded, or use its own program."};
}

// Why the server refused its plans file, when it did.
void check_plans_in_force(const CalledServer& server, Findings& findings) {
    const auto response = server.send({"GET", "/admin/plans"}, kPatience);
    boost::system::error_code error;
    const auto value = response ? json::parse(response->body, error) : json::value{};
    const auto* object = error ? nullptr : value.if_object();
    const auto* plans = object == nullptr ? nullptr : object->if_contains("plans");
    if (plans == nullptr || !plans->is_array()) {
        return;
    }
    if (const std::string refused = text_at(*object, "fileError"); !refused.empty()) {
        findings.push_back({"plans in force", false, refused,
                            "Correct the file and send SIGHUP; the server keeps the plans it had."});
        return;
    }
    findings.push_back({"plans in force", true,
                        "At " + url_of(server) + ": " + std::to_string(plans->get_array().size()) + "."});
}

ServerFacts facts_of(const json::object& told) {
    ServerFacts facts{text_at(told, "version"), text_at(told, "folder"), {}};
    const auto* settings = told.if_contains("settings");
    for (const auto& each : settings == nullptr ? json::array{} : settings->as_array()) {
        const auto* entry = each.if_object();
        if (entry != nullptr && entry->contains("value") && entry->at("value").is_string()) {
            facts.settings.emplace(text_at(*entry, "key"), text_at(*entry, "value"));
        }
    }
    return facts;
}

// What servers that work together must have in common.
std::string shared_fact(const ServerFacts& facts, const std::string& what) {
    if (what == "version") {
        return facts.version;
    }
    const auto found = facts.settings.find(what);
    return found == facts.settings.end() ? std::string{"not set"} : found->second;
}

}  // namespace

std::optional<ServerFacts> check_server(const CalledServer& server, Findings& findings) {
    const std::string url = url_of(server);
    findings.push_back(check_readiness(server));
    const Instant asked = SystemClock{}.now();
    const auto response = server.send({"GET", "/admin/settings"}, kPatience);
    const Instant answered = SystemClock{}.now();
    if (!response) {
        return std::nullopt;
    }
    if (response->status == 401 || response->status == 429) {
        findings.push_back({"server settings", true, url + " shows its settings to the admin only.",
                            "Give its token with --token-file; more can be looked at then."});
        return std::nullopt;
    }
    boost::system::error_code error;
    const auto value = json::parse(response->body, error);
    const auto* told = error ? nullptr : value.if_object();
    if (response->status != 200 || told == nullptr) {
        findings.push_back({"server settings", true, url + " does not show its settings.",
                            "It may be an older version, or no Sluice at all."});
        return std::nullopt;
    }
    findings.push_back(check_version(text_at(*told, "version"), url));
    findings.push_back(check_clock(*told, asked, answered, url));
    findings.push_back(check_files(*told, url));
    check_plans_in_force(server, findings);
    return facts_of(*told);
}

void compare_servers(const std::map<std::string, ServerFacts>& by_address, Findings& findings) {
    if (by_address.size() < 2) {
        return;
    }
    const std::string& first = by_address.begin()->first;
    const ServerFacts& wanted = by_address.begin()->second;
    const std::size_t before = findings.size();
    for (const auto& [address, facts] : by_address) {
        for (const char* what : {"version", "store", "redis", "slots.defaultConfig", "slots.strict"}) {
            const std::string one = shared_fact(wanted, what);
            const std::string other = shared_fact(facts, what);
            if (one != other) {
                findings.push_back(
                    {"nodes", false,
                     fmt::format("{} is '{}' at {} and '{}' at {}.", what, one, first, other, address),
                     "Nodes that work together need the same."});
            }
        }
    }
    if (findings.size() == before) {
        findings.push_back(
            {"nodes", true, std::to_string(by_address.size()) + " servers have one version and one store."});
    }
}

}  // namespace sluice
