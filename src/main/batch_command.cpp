#include "main/batch_command.hpp"

#include <iostream>
#include <iterator>
#include <sstream>

#include <boost/json/parse.hpp>

#include "base/iso8601.hpp"
#include "base/json_text.hpp"
#include "files/text_file.hpp"
#include "main/client_call.hpp"
#include "main/human_output.hpp"

namespace sluice {
namespace {

constexpr std::size_t kEventsMax = 10'000;
constexpr std::chrono::seconds kPatience{60};

Result<std::string, std::string> read_events(const std::string& path) {
    if (path == "-") {
        return std::string{std::istreambuf_iterator<char>{std::cin}, {}};
    }
    auto text = read_text_file(path);
    if (!text) {
        return Unexpected{"The file " + path + " cannot be read: " + text.error() + "."};
    }
    return text;
}

bool is_object(const std::string& line) {
    boost::system::error_code error;
    const auto value = boost::json::parse(line, error);
    return !error && value.is_object();
}

// A line is an event's id, or the JSON of one event.
Result<std::string, std::string> events_json(const std::string& text) {
    std::istringstream lines{text};
    std::string line;
    std::string list;
    std::size_t count = 0;
    for (std::size_t number = 1; std::getline(lines, line); ++number) {
        if (line.ends_with('\r')) {
            line.pop_back();
        }
        if (line.empty()) {
            continue;
        }
        const bool json = line.front() == '{';
        if (json && !is_object(line)) {
            return Unexpected{"Line " + std::to_string(number) + " is not the JSON of an event, like " +
                              R"({"eventId":"pay-1","requestedTime":"2030-01-01T09:00:00Z"}.)"};
        }
        list += (list.empty() ? "" : ",") + (json ? line : JsonObject{}.text("eventId", line).done());
        ++count;
    }
    if (count == 0 || count > kEventsMax) {
        return Unexpected{"A batch has 1 to " + std::to_string(kEventsMax) + " events, not " +
                          std::to_string(count) + "; split the file, or use POST /api/v1/slots/stream."};
    }
    return "[" + list + "]";
}

std::size_t failures_in(std::string_view text) {
    boost::system::error_code error;
    const auto value = boost::json::parse({text.data(), text.size()}, error);
    const auto* object = error ? nullptr : value.if_object();
    const auto* results = object == nullptr ? nullptr : object->if_contains("results");
    std::size_t failed = 0;
    for (const auto& result : results == nullptr ? boost::json::array{} : results->as_array()) {
        failed += result.as_object().contains("error") ? 1 : 0;
    }
    return failed;
}

}  // namespace

ExitCode assign_batch(const Invocation& invocation, std::ostream& out, std::ostream& errors) {
    const auto server = called_server(invocation);
    if (!server) {
        return fail(errors, ExitCode::Usage, server.error());
    }
    const auto text = read_events(invocation.value("FILE"));
    const auto events = text ? events_json(*text) : text;
    if (!events) {
        return fail(errors, ExitCode::Usage, events.error());
    }
    JsonObject body;
    if (invocation.has("config-name")) {
        body.text("configName", invocation.value("config-name"));
    }
    body.text("requestedTime",
              invocation.has("at") ? invocation.value("at") : format_instant(SystemClock{}.now()));
    body.raw("atomic", invocation.has("atomic") ? "true" : "false").raw("events", *events);
    const auto response = server->send({"POST", "/api/v1/slots/batch", body.done()}, kPatience);
    if (!response) {
        return fail_unreachable(errors, response.error());
    }
    const bool refused = response->status != 200;
    if (!refused || invocation.wants_json()) {
        out << (invocation.wants_json() ? response->body + "\n" : human_output(response->body));
    }
    if (refused) {
        return fail(errors, ExitCode::Failed, problem_sentence(response->status, response->body));
    }
    const std::size_t failed = failures_in(response->body);
    return failed == 0
               ? ExitCode::Ok
               : fail(errors, ExitCode::Failed,
                      std::to_string(failed) + (failed == 1 ? " event" : " events") + " got no slot.");
}

}  // namespace sluice
