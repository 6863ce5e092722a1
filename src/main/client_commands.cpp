#include "main/client_commands.hpp"

#include <fstream>
#include <ostream>

#include "base/iso8601.hpp"
#include "main/host_port.hpp"
#include "main/http_client.hpp"
#include "main/human_output.hpp"
#include "main/json_text.hpp"

namespace sluice {
namespace {

constexpr std::chrono::seconds kPatience{15};

void add_text(JsonObject& body, const Invocation& from, const std::string& option, std::string_view field) {
    if (from.has(option)) {
        body.text(field, from.value(option));
    }
}

// The value was checked to be digits; leading zeros would not be JSON.
void add_number(JsonObject& body, const Invocation& from, const std::string& option, std::string_view field) {
    if (from.has(option)) {
        body.number(field, std::stoll(from.value(option)));
    }
}

std::string asking_body(const Invocation& invocation) {
    JsonObject body;
    add_text(body, invocation, "EVENT_ID", "eventId");
    add_text(body, invocation, "config-name", "configName");
    body.text("requestedTime",
              invocation.has("at") ? invocation.value("at") : format_instant(SystemClock{}.now()));
    add_number(body, invocation, "weight", "weight");
    add_text(body, invocation, "max-delay", "maxDelay");
    return body.done();
}

std::string config_body(const Invocation& invocation) {
    JsonObject body;
    add_text(body, invocation, "NAME", "configName");
    add_number(body, invocation, "max-per-window", "maxPerWindow");
    add_text(body, invocation, "window-size", "windowSize");
    add_text(body, invocation, "pool", "pool");
    add_number(body, invocation, "max-lookahead", "maxLookahead");
    return body.done();
}

std::string check_body(const Invocation& invocation) {
    JsonObject body;
    add_text(body, invocation, "KEY", "key");
    body.raw("plans", json_list(invocation.value("plan")));
    add_number(body, invocation, "tokens", "tokens");
    return body.done();
}

std::string override_body(const Invocation& invocation) {
    JsonObject body;
    add_text(body, invocation, "plan", "plan");
    add_number(body, invocation, "capacity", "capacity");
    add_number(body, invocation, "max-per-hour", "max_per_hour");
    for (const char* field : {"refill", "window", "cooldown", "ttl", "until"}) {
        add_text(body, invocation, field, field);
    }
    if (invocation.has("remove")) {
        body.text("until", format_instant(kEpoch));
    }
    return body.done();
}

HttpRequest to_limit_request(const Invocation& invocation) {
    const std::string& path = invocation.command->path;
    const std::string key = "/admin/keys/" + url_encoded(invocation.value("KEY"));
    const std::string plans = invocation.has("plan") ? "?plan=" + url_encoded(invocation.value("plan")) : "";
    if (path == "check") {
        return {"POST", "/api/v1/check", check_body(invocation)};
    }
    if (path == "key override") {
        return {"PUT", key, override_body(invocation)};
    }
    return {path == "key reset" ? "DELETE" : "GET", key + plans};
}

HttpRequest to_request(const Invocation& invocation) {
    const std::string& path = invocation.command->path;
    if (invocation.has("KEY")) {
        return to_limit_request(invocation);
    }
    const std::string slot = "/api/v1/slots/" + url_encoded(invocation.value("EVENT_ID"));
    const std::string name = invocation.has("NAME") ? "?name=" + url_encoded(invocation.value("NAME")) : "";
    if (path == "assign") {
        return {"POST", "/api/v1/slots", asking_body(invocation)};
    }
    if (path == "quote") {
        return {"POST", "/api/v1/slots/quote", asking_body(invocation)};
    }
    if (path == "slot get") {
        return {"GET", slot};
    }
    if (path == "slot cancel") {
        return {"DELETE", slot};
    }
    if (path == "slot move") {
        return {"POST", slot + "/move", JsonObject{}.text("requestedTime", invocation.value("at")).done()};
    }
    if (path == "config set") {
        return {"POST", "/admin/rate-limit/config", config_body(invocation)};
    }
    return {"GET",
            "/admin/rate-limit/config" + std::string{path == "config history" ? "/history" : ""} + name};
}

Result<std::string, std::string> read_token(const std::string& path) {
    std::ifstream file{path};
    std::string token;
    if (!std::getline(file, token)) {
        return Unexpected{"The token file " + path + " cannot be read, or is empty."};
    }
    if (token.ends_with('\r')) {
        token.pop_back();
    }
    if (token.find_first_of(std::string_view{"\r\n\0", 3}) != std::string::npos) {
        return Unexpected{"The token in " + path + " has control characters."};
    }
    return token;
}

ExitCode fail(std::ostream& errors, ExitCode code, const std::string& sentence) {
    errors << "sluice: " << sentence << std::endl;
    return code;
}

// What is told of an answer without a body.
std::string done_output(const Invocation& invocation) {
    const bool slot = invocation.has("EVENT_ID");
    const std::string subject = invocation.value(slot ? "EVENT_ID" : "KEY");
    if (invocation.wants_json()) {
        return JsonObject{}
                   .text(slot ? "eventId" : "key", subject)
                   .text("state", slot ? "cancelled" : "reset")
                   .done() +
               "\n";
    }
    return (slot ? "Cancelled " : "Reset ") + subject + ".\n";
}

std::string output_of(const Invocation& invocation, const HttpResponse& response) {
    if (response.body.empty()) {
        return done_output(invocation);
    }
    return invocation.wants_json() ? response.body + "\n" : human_output(response.body);
}

}  // namespace

ExitCode run_client_command(const Invocation& invocation, std::ostream& out, std::ostream& errors) {
    const auto server = parse_server_url(invocation.value("server"));
    if (!server) {
        return fail(errors, ExitCode::Usage, "--server: " + server.error());
    }
    HttpRequest request = to_request(invocation);
    if (invocation.has("token-file")) {
        auto token = read_token(invocation.value("token-file"));
        if (!token) {
            return fail(errors, ExitCode::Usage, token.error());
        }
        request.token = std::move(*token);
    }
    const auto response = send_request(*server, request, kPatience);
    if (!response) {
        return fail(errors, ExitCode::Unreachable, response.error());
    }
    const bool denied = invocation.command->path == "check" && response->status == 429;
    const bool refused = response->status >= 300 && !denied;
    if (!refused || invocation.wants_json()) {
        out << output_of(invocation, *response);
    }
    if (refused) {
        return fail(errors, ExitCode::Failed, problem_sentence(response->status, response->body));
    }
    return denied ? ExitCode::Denied : ExitCode::Ok;
}

}  // namespace sluice
