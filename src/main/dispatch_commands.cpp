#include "main/dispatch_commands.hpp"

#include <array>
#include <ostream>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "base/iso8601.hpp"
#include "files/setting_values.hpp"
#include "main/client_call.hpp"
#include "main/human_output.hpp"

namespace sluice {
namespace {

namespace json = boost::json;

struct Named {
    const char* option;
    std::string_view field;
};
constexpr std::array kSubjects{Named{"config-name", "configName"}, Named{"pool", "pool"},
                               Named{"host", "host"}, Named{"endpoint", "endpoint"}};
constexpr std::array kFilters{Named{"state", "state"}, Named{"config-name", "configName"},
                              Named{"host", "host"}, Named{"after", "after"}, Named{"limit", "limit"}};

// Adds those of the options that were given.
void add_given(JsonObject& body, const Invocation& invocation, std::span<const Named> options) {
    for (const Named& one : options) {
        if (invocation.has(one.option)) {
            body.text(one.field, invocation.value(one.option));
        }
    }
}

// /api/v1/work with what the options say; `state` in place of the option where it is given.
std::string work_target(const Invocation& invocation, const std::string& state = {}) {
    std::string target = "/api/v1/work";
    const auto add = [&](std::string_view field, const std::string& value) {
        target += (target.ends_with("work") ? "?" : "&") + std::string{field} + "=" + net::url_encoded(value);
    };
    for (const Named& one : kFilters) {
        if (invocation.has(one.option)) {
            add(one.field, invocation.value(one.option));
        }
    }
    if (!state.empty()) {
        add("state", state);
    }
    return target;
}

std::string replay_body(const Invocation& invocation) {
    JsonObject body;
    if (const auto events = invocation.lists.find("EVENT_ID"); events != invocation.lists.end()) {
        std::string ids = "[";
        for (const std::string& id : events->second) {
            ids += (ids.back() == '[' ? "" : ",") + json_string(id);
        }
        body.raw("eventIds", ids + "]");
    }
    constexpr std::array kOthers{Named{"host", "host"}, Named{"since", "since"}, Named{"until", "until"}};
    add_given(body, invocation, kOthers);
    return body.done();
}

Result<std::string, std::string> rate_body(const Invocation& invocation) {
    if (invocation.has("per-second") == invocation.has("none")) {
        return Unexpected{std::string{"Say either --per-second N or --none."}};
    }
    JsonObject body;
    add_given(body, invocation, kSubjects);
    if (invocation.has("none")) {
        body.raw("maxPerSecond", "null");
    } else {
        body.number("maxPerSecond", std::stoll(invocation.value("per-second")));
    }
    constexpr std::array kHolds{Named{"rate-holds", "rateHolds"}};
    add_given(body, invocation, kHolds);
    return body.done();
}

// "5s,30s,10m" as a JSON list of the wire's durations.
Result<std::string, std::string> schedule_json(const std::string& text) {
    std::string list = "[";
    std::size_t from = 0;
    while (text != "none" && from <= text.size()) {
        const std::size_t comma = std::min(text.find(',', from), text.size());
        const auto pause = duration_setting(text.substr(from, comma - from));
        if (!pause) {
            return Unexpected{"--retry-schedule: " + pause.error()};
        }
        list += (list.back() == '[' ? "\"" : ",\"") + format_duration(*pause) + "\"";
        from = comma + 1;
    }
    return list + "]";
}

json::value parsed(std::string_view text) {
    boost::system::error_code error;
    json::value value = json::parse({text.data(), text.size()}, error);
    return error ? json::value{} : value;
}

// The work of a slot in lines of their own. What only programs want is left out.
std::string story_text(std::string_view text, bool with_audit) {
    json::value value = parsed(text);
    json::object* story = value.if_object();
    const json::value* field = story == nullptr ? nullptr : story->if_contains("work");
    if (field == nullptr || !field->is_object()) {
        return human_output(text);
    }
    const json::object work = field->get_object();
    story->erase("work");
    for (const auto& [name, one] : work) {
        if (name != "audit" || with_audit) {
            (*story)[name == "state" ? json::string_view{"work"} : name] = one;
        }
    }
    return human_output(json::serialize(*story));
}

// Its counts as a table.
std::string overview_text(std::string_view text) {
    json::value value = parsed(text);
    json::object* overview = value.if_object();
    json::value* counts = overview == nullptr ? nullptr : overview->if_contains("counts");
    if (counts == nullptr) {
        return human_output(text);
    }
    *counts = json::array{*counts};
    return human_output(json::serialize(value));
}

std::string work_text(std::string_view text) {
    return json_field(text, "work") == "-" ? "There is no such work.\n" : human_output(text);
}

}  // namespace

bool is_dispatch_command(const std::string& path) {
    return path == "work list" || path == "dead replay" || path.starts_with("dispatch ");
}

Result<net::HttpRequest, std::string> to_dispatch_request(const Invocation& invocation) {
    const std::string& path = invocation.command->path;
    if (path == "work list") {
        return net::HttpRequest{"GET", work_target(invocation)};
    }
    if (path == "dispatch show") {
        return net::HttpRequest{"GET", "/admin/dispatch"};
    }
    if (path == "dead replay") {
        return net::HttpRequest{"POST", "/admin/dispatch/replay", replay_body(invocation)};
    }
    if (path == "dispatch rate") {
        auto body = rate_body(invocation);
        return body ? Result<net::HttpRequest, std::string>{net::HttpRequest{"PUT", "/admin/dispatch/rates",
                                                                             *std::move(body)}}
                    : Unexpected{body.error()};
    }
    JsonObject body;
    add_given(body, invocation, kSubjects);
    return net::HttpRequest{
        "POST", path == "dispatch pause" ? "/admin/dispatch/pause" : "/admin/dispatch/resume", body.done()};
}

std::optional<std::string> add_work(JsonObject& event, const Invocation& invocation) {
    JsonObject target;
    int targets = 0;
    const auto aim = [&](const std::string& option, std::string_view type, std::string_view field) {
        if (invocation.has(option)) {
            ++targets;
            target.text("type", type);
            if (!field.empty()) {
                target.text(field, invocation.value(option));
            }
        }
    };
    aim("target", "log", "");
    aim("target-url", "webhook", "url");
    aim("target-topic", "kafka", "topic");
    if (targets > 1) {
        return "--target, --target-url and --target-topic each name a target; give one of them.";
    }
    if (targets == 1) {
        event.raw("target", target.done());
    }
    if (invocation.has("payload")) {
        const std::string payload = invocation.value("payload");
        boost::system::error_code error;
        json::parse(payload, error);
        if (error) {
            return "--payload is not JSON. A text needs its own quotes: --payload '\"text\"'.";
        }
        event.raw("payload", payload);
    }
    constexpr std::array kExpires{Named{"expires-after", "expiresAfter"}};
    add_given(event, invocation, kExpires);
    return std::nullopt;
}

std::optional<std::string> add_dispatch(JsonObject& config, const Invocation& invocation) {
    if (invocation.has("max-per-second")) {
        config.number("maxPerSecond", std::stoll(invocation.value("max-per-second")));
    }
    constexpr std::array kOthers{Named{"rate-holds", "rateHolds"}, Named{"expires-after", "expiresAfter"}};
    add_given(config, invocation, kOthers);
    if (invocation.has("retry-schedule")) {
        auto schedule = schedule_json(invocation.value("retry-schedule"));
        if (!schedule) {
            return schedule.error();
        }
        config.raw("retrySchedule", *schedule);
    }
    return std::nullopt;
}

std::string dispatch_output(const Invocation& invocation, std::string_view answer) {
    const std::string& path = invocation.command->path;
    if (path == "slot get") {
        return story_text(answer, invocation.has("audit"));
    }
    if (path == "dispatch show") {
        return overview_text(answer);
    }
    if (path == "dead replay") {
        return json_field(answer, "replayed") + " will be tried again.\n";
    }
    return path == "work list" ? work_text(answer) : human_output(answer);
}

ExitCode list_dead(const Invocation& invocation, std::ostream& out, std::ostream& errors) {
    const auto server = called_server(invocation);
    if (!server) {
        return fail(errors, ExitCode::Usage, server.error());
    }
    const auto limit = static_cast<std::size_t>(std::stoull(invocation.value("limit")));
    json::array dead;
    bool more = false;
    for (const char* state : {"dead", "expired"}) {
        const auto response = server->send({"GET", work_target(invocation, state)});
        if (!response) {
            return fail_unreachable(errors, response.error());
        }
        if (response->status != 200) {
            out << (invocation.wants_json() ? response->body + "\n" : "");
            return fail(errors, ExitCode::Failed, problem_sentence(response->status, response->body));
        }
        const json::value page = parsed(response->body);
        for (const json::value& one : page.at("work").as_array()) {
            dead.push_back(one);
        }
        more = more || !page.at("after").is_null();
    }
    more = more || dead.size() > limit;
    dead.resize(std::min(dead.size(), limit));
    const bool none = dead.empty();
    const std::string text = json::serialize(json::object{{"work", std::move(dead)}, {"more", more}});
    if (invocation.wants_json()) {
        out << text << "\n";
    } else {
        out << (none ? std::string{"Nothing is dead.\n"} : human_output(text));
    }
    return ExitCode::Ok;
}

}  // namespace sluice
