#pragma once

#include <optional>
#include <string>
#include <vector>

#include "main/command_line.hpp"
#include "main/command_table.hpp"
#include "net/blocking_http_client.hpp"

// The commands of the gateway: send and user.
namespace sluice {

std::vector<CommandSpec> gateway_commands();

bool is_gateway_command(const std::string& path);

// REQUIRES: a command of the gateway.
net::HttpRequest to_gateway_request(const Invocation& invocation);

// What is shown of an answer, with its line end: text as JSON too, where that was asked for.
std::string gateway_output(const Invocation& invocation, const net::HttpResponse& response);

// What the server said, in one sentence. REQUIRES: it refused.
std::string gateway_refusal(const net::HttpResponse& response);

}  // namespace sluice
