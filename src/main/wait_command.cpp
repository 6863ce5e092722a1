#include "main/wait_command.hpp"

#include <algorithm>
#include <ostream>
#include <thread>

#include "base/iso8601.hpp"
#include "base/json_text.hpp"
#include "main/client_call.hpp"
#include "main/human_output.hpp"

namespace sluice {
namespace {

using Steady = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPause{100};
constexpr std::chrono::milliseconds kAnswerPatience{2000};

}  // namespace

ExitCode wait_until_ready(const Invocation& invocation, std::ostream& out, std::ostream& errors) {
    const auto server = called_server(invocation);
    if (!server) {
        return fail(errors, ExitCode::Usage, server.error());
    }
    const auto start = Steady::now();
    const Duration timeout = *parse_duration(invocation.value("timeout"));
    const std::string url = server->url.text();
    std::string last;
    do {
        const auto response = server->send({"GET", "/readyz"}, std::min(timeout, kAnswerPatience));
        if (response && response->status == 200) {
            const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(Steady::now() - start);
            out << (invocation.wants_json() ? JsonObject{}
                                                      .raw("ready", "true")
                                                      .text("status", json_field(response->body, "status"))
                                                      .number("waitedMs", waited.count())
                                                      .done() +
                                                  "\n"
                                            : url + " is ready.\n");
            return ExitCode::Ok;
        }
        last = response ? url + " is not ready: " + response->body + "." : response.error().sentence;
        std::this_thread::sleep_for(kPause);
    } while (Steady::now() - start < timeout);
    if (invocation.wants_json()) {
        out << JsonObject{}.raw("ready", "false").text("detail", last).done() << "\n";
    }
    return fail(errors, ExitCode::Unreachable,
                "Gave up after " + format_duration(timeout) + " of waiting. " + last);
}

}  // namespace sluice
