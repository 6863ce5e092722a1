#pragma once

#include <iosfwd>

#include "main/command_line.hpp"
#include "main/exit_code.hpp"
#include "main/http_client.hpp"

namespace sluice {

// A running server as a command's options name it.
struct CalledServer {
    net::HostPort address;
    std::string token{};  // Of the admin; empty: none.

    [[nodiscard]] Result<HttpResponse, std::string> send(
        HttpRequest request, std::chrono::milliseconds patience = std::chrono::seconds{15}) const;
};

// What --server and --token-file say, or the variables in their place. Fails with one sentence.
Result<CalledServer, std::string> called_server(const Invocation& invocation);

// Says that no answer came, and what to do about it.
ExitCode fail_unreachable(std::ostream& errors, const std::string& sentence);

// A sentence on `errors`, and the code.
ExitCode fail(std::ostream& errors, ExitCode code, const std::string& sentence);

}  // namespace sluice
