#pragma once

#include <iosfwd>
#include <optional>
#include <string>

#include "base/json_text.hpp"
#include "base/result.hpp"
#include "main/command_line.hpp"
#include "main/exit_code.hpp"
#include "net/http_message.hpp"

namespace sluice {

// Whether it is one of those that ask one thing of /api/v1/work or /admin/dispatch.
bool is_dispatch_command(const std::string& path);

// What the command asks. Fails with one sentence when its options do not go together.
Result<net::HttpRequest, std::string> to_dispatch_request(const Invocation& invocation);

// Adds what the options of a command say of an event's work, or of a config's. Gives one sentence when they
// do not go together.
std::optional<std::string> add_work(JsonObject& event, const Invocation& invocation);
std::optional<std::string> add_dispatch(JsonObject& config, const Invocation& invocation);

// The server's answer for people: of 'slot get' with the audit only if that was asked for.
std::string dispatch_output(const Invocation& invocation, std::string_view answer);

// Lists what is dead and what has expired, as one list.
ExitCode list_dead(const Invocation& invocation, std::ostream& out, std::ostream& errors);

}  // namespace sluice
