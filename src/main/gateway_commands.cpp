#include "main/gateway_commands.hpp"

#include <array>

#include "base/json_text.hpp"
#include "main/command_options.hpp"
#include "main/human_output.hpp"

namespace sluice {
namespace {

OptionSpec user() { return {"USER", "", "The user, a number", ValueKind::WholeNumber, true}; }

// Digits, as the command line has seen; leading zeros would not be JSON, and too large ones are for the
// server to refuse.
std::string number(const std::string& digits) {
    const std::size_t first = digits.find_first_not_of('0');
    return first == std::string::npos ? "0" : digits.substr(first);
}

net::HttpRequest send_request(const Invocation& invocation) {
    JsonObject body;
    body.raw("userId", number(invocation.value("USER"))).text("message", invocation.value("MESSAGE"));
    struct Named {
        const char* option;
        std::string_view field;
    };
    constexpr std::array kTexts{Named{"request-id", "requestId"}, Named{"to", "to"}, Named{"from", "from"},
                                Named{"validity", "validity"}};
    for (const auto& [option, field] : kTexts) {
        if (invocation.has(option)) {
            body.text(field, invocation.value(option));
        }
    }
    return {"POST", "/api/send", body.done()};
}

}  // namespace

std::vector<CommandSpec> gateway_commands() {
    return {
        {"send",
         "Send a message for a user, if its window has room; exit code 4: it has none",
         "sluice send 101 Hello --request-id order-17",
         {user(), {"MESSAGE", "", "The message, at most 10 KiB", ValueKind::Text, true}},
         with_server(
             {{"request-id", "ID", "A name of your own: a retry with it is not sent twice"},
              {"to", "WHOM", "Whom it is for"},
              {"from", "WHOM", "Whom it is from"},
              {"validity", "DURATION", "Older than this it is not sent, as 10m", ValueKind::TimeSpan}})},
        {"user get",
         "Show how many messages a user may send, and has sent in its window",
         "sluice user get 101",
         {user()},
         with_server({})},
        {"user set",
         "Set how many messages a user may send; its window begins anew",
         "sluice user set 101 --rate-limit 10 --time-window 5",
         {user()},
         with_admin({{"rate-limit", "N", "Messages in each window", ValueKind::WholeNumber, true},
                     {"time-window", "MINUTES", "Length of the window", ValueKind::WholeNumber, true}})},
    };
}

bool is_gateway_command(const std::string& path) { return path == "send" || path.starts_with("user "); }

net::HttpRequest to_gateway_request(const Invocation& invocation) {
    const std::string& path = invocation.command->path;
    if (path == "send") {
        return send_request(invocation);
    }
    if (path == "user get") {
        return {"GET", "/api/config/" + number(invocation.value("USER"))};
    }
    return {"POST", "/api/config",
            JsonObject{}
                .raw("userId", number(invocation.value("USER")))
                .raw("rateLimit", number(invocation.value("rate-limit")))
                .raw("timeWindow", number(invocation.value("time-window")))
                .done()};
}

std::string gateway_output(const Invocation& invocation, const net::HttpResponse& response) {
    const std::string_view id = response.header("Message-Id");
    if (!invocation.wants_json()) {
        return id.empty() ? human_output(response.body) : response.body + ", as " + std::string{id} + ".\n";
    }
    if (response.status == 200 && id.empty()) {
        return response.body + "\n";
    }
    JsonObject told;
    told.number("status", response.status).text("answer", response.body);
    if (!id.empty()) {
        told.text("messageId", id);
    }
    if (const auto seconds = response.header("Retry-After"); !seconds.empty()) {
        told.text("retryAfter", seconds);
    }
    return told.done() + "\n";
}

std::string gateway_refusal(const net::HttpResponse& response) {
    // A server without a gateway knows no such path, and says so in a problem document.
    if (response.body.starts_with('{')) {
        return problem_sentence(response.status, response.body);
    }
    std::string sentence =
        "The server answered " + std::to_string(response.status) + ": " + response.body + ".";
    if (response.status == 429) {
        sentence += " There is room again in " + std::string{response.header("Retry-After")} + " s.";
    }
    if (const auto id = response.header("Message-Id"); !id.empty()) {
        sentence += " It may be sent yet, as " + std::string{id} + ".";
    }
    return sentence;
}

}  // namespace sluice
