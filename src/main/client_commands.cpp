#include "main/client_commands.hpp"

#include <algorithm>
#include <array>
#include <ostream>

#include "base/iso8601.hpp"
#include "base/json_text.hpp"
#include "main/client_call.hpp"
#include "main/dispatch_commands.hpp"
#include "main/gateway_commands.hpp"
#include "main/human_output.hpp"

namespace sluice {
namespace {

using Request = Result<net::HttpRequest, std::string>;

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

Result<std::string, std::string> asking_body(const Invocation& invocation) {
    JsonObject body;
    add_text(body, invocation, "EVENT_ID", "eventId");
    add_text(body, invocation, "config-name", "configName");
    body.text("requestedTime",
              invocation.has("at") ? invocation.value("at") : format_instant(SystemClock{}.now()));
    add_number(body, invocation, "weight", "weight");
    add_text(body, invocation, "max-delay", "maxDelay");
    if (auto error = add_work(body, invocation)) {
        return Unexpected{*std::move(error)};
    }
    return body.done();
}

Result<std::string, std::string> config_body(const Invocation& invocation) {
    JsonObject body;
    add_text(body, invocation, "NAME", "configName");
    add_number(body, invocation, "max-per-window", "maxPerWindow");
    add_text(body, invocation, "window-size", "windowSize");
    add_text(body, invocation, "pool", "pool");
    add_number(body, invocation, "max-lookahead", "maxLookahead");
    add_text(body, invocation, "spread", "spread");
    add_text(body, invocation, "past", "past");
    if (auto error = add_dispatch(body, invocation)) {
        return Unexpected{*std::move(error)};
    }
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

std::string plan_body(const Invocation& invocation) {
    JsonObject body;
    add_number(body, invocation, "capacity", "capacity");
    add_number(body, invocation, "max-per-hour", "max_per_hour");
    add_number(body, invocation, "lease", "lease");
    for (const char* field : {"algorithm", "refill", "window", "start", "cooldown"}) {
        add_text(body, invocation, field, field);
    }
    add_text(body, invocation, "on-store-failure", "on_store_failure");
    if (invocation.has("shadow")) {
        body.raw("shadow", "true");
    }
    return body.done();
}

net::HttpRequest to_plan_request(const Invocation& invocation) {
    const std::string& path = invocation.command->path;
    const std::string plan = "/admin/plans/" + net::url_encoded(invocation.value("NAME"));
    if (path == "plan set") {
        return {"PUT", plan, plan_body(invocation)};
    }
    return path == "plan remove" ? net::HttpRequest{"DELETE", plan} : net::HttpRequest{"GET", "/admin/plans"};
}

net::HttpRequest to_limit_request(const Invocation& invocation) {
    const std::string& path = invocation.command->path;
    const std::string key = "/admin/keys/" + net::url_encoded(invocation.value("KEY"));
    const std::string plans =
        invocation.has("plan") ? "?plan=" + net::url_encoded(invocation.value("plan")) : "";
    if (path == "check") {
        return {"POST", "/api/v1/check", check_body(invocation)};
    }
    if (path == "key override") {
        return {"PUT", key, override_body(invocation)};
    }
    return {path == "key reset" ? "DELETE" : "GET", key + plans};
}

// A request with this body, if it could be made.
Request posting(const std::string& target, Result<std::string, std::string> body) {
    return body ? Request{net::HttpRequest{"POST", target, *std::move(body)}} : Unexpected{body.error()};
}

// Fails with one sentence when options do not go together.
Request to_request(const Invocation& invocation) {
    const std::string& path = invocation.command->path;
    if (is_dispatch_command(path)) {
        return to_dispatch_request(invocation);
    }
    if (is_gateway_command(path)) {
        return to_gateway_request(invocation);
    }
    if (invocation.has("KEY")) {
        return to_limit_request(invocation);
    }
    if (path.starts_with("plan ")) {
        return to_plan_request(invocation);
    }
    if (path == "config list") {
        return net::HttpRequest{"GET", "/admin/rate-limit/configs"};
    }
    const std::string slot = "/api/v1/slots/" + net::url_encoded(invocation.value("EVENT_ID"));
    const std::string name =
        invocation.has("NAME") ? "?name=" + net::url_encoded(invocation.value("NAME")) : "";
    if (path == "assign") {
        return posting("/api/v1/slots", asking_body(invocation));
    }
    if (path == "quote") {
        return posting("/api/v1/slots/quote", asking_body(invocation));
    }
    if (path == "slot get") {
        return net::HttpRequest{"GET", slot};
    }
    if (path == "slot cancel") {
        return net::HttpRequest{"DELETE", slot};
    }
    if (path == "slot move") {
        return posting(slot + "/move", JsonObject{}.text("requestedTime", invocation.value("at")).done());
    }
    if (path == "config set") {
        return posting("/admin/rate-limit/config", config_body(invocation));
    }
    return net::HttpRequest{
        "GET", "/admin/rate-limit/config" + std::string{path == "config history" ? "/history" : ""} + name};
}

// What is told where the server's answer says nothing to a person: what was done, to what.
struct Deed {
    std::string_view path;
    std::string_view word;   // The word of the command that names the thing.
    std::string_view field;  // What JSON calls it.
    std::string_view state;
    std::string_view sentence;  // Followed by the name.
};
constexpr std::array kDeeds{
    Deed{"slot cancel", "EVENT_ID", "eventId", "cancelled", "Cancelled "},
    Deed{"key reset", "KEY", "key", "reset", "Reset "},
    Deed{"key override", "KEY", "key", "removed", "Ended the override of "},
    Deed{"plan remove", "NAME", "name", "removed", "Removed plan "},
};

std::string done_output(const Invocation& invocation) {
    const auto* deed = std::find_if(kDeeds.begin(), kDeeds.end(),
                                    [&](const Deed& each) { return each.path == invocation.command->path; });
    if (deed == kDeeds.end()) {
        return {};
    }
    const std::string subject = invocation.value(std::string{deed->word});
    if (invocation.wants_json()) {
        return JsonObject{}.text(deed->field, subject).text("state", deed->state).done() + "\n";
    }
    return std::string{deed->sentence} + subject + ".\n";
}

// Why the plans file is not in force, where it is not.
std::string file_error_line(std::string_view plans) {
    const std::string error = json_field(plans, "fileError");
    return error.empty() || error == "-" ? "" : "The plans file is refused: " + error + "\n";
}

std::string output_of(const Invocation& invocation, const net::HttpResponse& response) {
    if (is_gateway_command(invocation.command->path)) {
        return gateway_output(invocation, response);
    }
    // The answer to an override that ends now would only say: until 1970.
    if (response.status < 300 && (response.body.empty() || invocation.has("remove"))) {
        return done_output(invocation);
    }
    if (invocation.wants_json()) {
        return response.body + "\n";
    }
    if (invocation.command->path == "config list" && response.body == R"({"configs":[]})") {
        return "There is no config yet. Make one: sluice config set default --max-per-window 50 "
               "--window-size 1s\n";
    }
    if (invocation.command->path == "plan list" && json_field(response.body, "plans") == "-") {
        return "There is no plan in force. Make one: sluice plan set gold --algorithm token_bucket "
               "--capacity "
               "100 --refill 10/s\n" +
               file_error_line(response.body);
    }
    const std::string& path = invocation.command->path;
    return path == "slot get" || is_dispatch_command(path) ? dispatch_output(invocation, response.body)
                                                           : human_output(response.body);
}

std::string refusal_of(const Invocation& invocation, const net::HttpResponse& response) {
    return is_gateway_command(invocation.command->path) ? gateway_refusal(response)
                                                        : problem_sentence(response.status, response.body);
}

}  // namespace

ExitCode run_client_command(const Invocation& invocation, std::ostream& out, std::ostream& errors) {
    const auto server = called_server(invocation);
    if (!server) {
        return fail(errors, ExitCode::Usage, server.error());
    }
    auto request = to_request(invocation);
    if (!request) {
        return fail(errors, ExitCode::Usage, request.error());
    }
    const auto response = server->send(*std::move(request));
    if (!response) {
        return fail_unreachable(errors, response.error());
    }
    // A check that is denied is an answer like another; a message that is not sent is a refusal.
    const bool denied = response->status == 429;
    const bool refused = response->status >= 300 && !(denied && invocation.command->path == "check");
    if (!refused || invocation.wants_json()) {
        out << output_of(invocation, *response);
    }
    if (refused) {
        const bool no_room = denied && invocation.command->path == "send";
        return fail(errors, no_room ? ExitCode::Denied : ExitCode::Failed, refusal_of(invocation, *response));
    }
    return denied ? ExitCode::Denied : ExitCode::Ok;
}

}  // namespace sluice
