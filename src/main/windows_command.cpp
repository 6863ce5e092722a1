#include "main/windows_command.hpp"

#include <algorithm>
#include <ostream>

#include <boost/json/parse.hpp>
#include <unistd.h>

#include "base/iso8601.hpp"
#include "main/client_call.hpp"
#include "main/human_output.hpp"

namespace sluice {
namespace {

constexpr std::int64_t kBarWidth = 40;

std::string bar(std::int64_t count, std::int64_t max) {
    // What is not empty shows, and only what is full looks full.
    const std::int64_t filled = max <= 0 || count >= max ? kBarWidth : count * kBarWidth / max;
    const auto shown = static_cast<std::size_t>(std::max<std::int64_t>(count > 0 ? 1 : 0, filled));
    return "[" + std::string(shown, '#') + std::string(kBarWidth - shown, ' ') + "]";
}

}  // namespace

std::string window_bars(std::string_view text) {
    boost::system::error_code error;
    const auto value = boost::json::parse({text.data(), text.size()}, error);
    const auto* object = error ? nullptr : value.if_object();
    const auto* field = object == nullptr ? nullptr : object->if_contains("windows");
    const auto* windows = field == nullptr ? nullptr : field->if_array();
    if (windows == nullptr) {
        return human_output(text);
    }
    std::string lines;
    for (const auto& window : *windows) {
        const auto& start = window.at("start").as_string();
        const std::int64_t count = window.at("count").to_number<std::int64_t>();
        const std::int64_t max = window.at("max").to_number<std::int64_t>();
        lines += std::string{start.data(), start.size()} + "  " + bar(count, max) + " " +
                 std::to_string(count) + " of " + std::to_string(max) + "\n";
    }
    return lines;
}

ExitCode show_windows(const Invocation& invocation, std::ostream& out, std::ostream& errors) {
    const auto server = called_server(invocation);
    if (!server) {
        return fail(errors, ExitCode::Usage, server.error());
    }
    const auto from = invocation.has("from") ? parse_instant(invocation.value("from"))
                                             : Result<Instant, TimeError>{SystemClock{}.now()};
    if (!from) {
        return fail(errors, ExitCode::Usage,
                    "--from: '" + invocation.value("from") + "' is not a time like 2030-01-01T09:00:00Z.");
    }
    const Instant to = *from + *parse_duration(invocation.value("for"));
    std::string target = "/api/v1/windows?from=" + format_instant(*from) + "&to=" + format_instant(to);
    if (invocation.has("config-name")) {
        target += "&configName=" + net::url_encoded(invocation.value("config-name"));
    }
    const auto response = server->send({"GET", target});
    if (!response) {
        return fail_unreachable(errors, response.error());
    }
    if (invocation.wants_json()) {
        out << response->body << "\n";
    }
    if (response->status != 200) {
        return fail(errors, ExitCode::Failed, problem_sentence(response->status, response->body));
    }
    if (!invocation.wants_json()) {
        const bool terminal = ::isatty(STDOUT_FILENO) == 1;
        out << (terminal ? window_bars(response->body) : human_output(response->body));
    }
    return ExitCode::Ok;
}

}  // namespace sluice
