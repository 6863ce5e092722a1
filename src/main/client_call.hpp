#pragma once

#include <iosfwd>

#include "main/command_line.hpp"
#include "main/exit_code.hpp"
#include "net/blocking_http_client.hpp"
#include "net/tls_client.hpp"

namespace sluice {

// Why no answer came, and what to do about it.
struct NoAnswer {
    std::string sentence;
    std::string advice = "'sluice serve' starts one; --server or SLUICE_SERVER names another.";
};

// A running server as a command's options name it.
struct CalledServer {
    net::ServerUrl url;
    std::string token;                     // Of the admin; empty: none.
    std::shared_ptr<net::TlsContext> tls;  // For https://. Shared with the sessions that are made with it.
    std::unique_ptr<net::BlockingHttpClient> client;

    // `request` has JSON for a body, or none.
    [[nodiscard]] Result<net::HttpResponse, NoAnswer> send(
        net::HttpRequest request, std::chrono::milliseconds patience = std::chrono::seconds{15}) const;
};

// What --server, --token-file and the options of TLS say, or the variables in their place. Fails with one
// sentence.
Result<CalledServer, std::string> called_server(const Invocation& invocation);

// Says that no answer came, and what to do about it.
ExitCode fail_unreachable(std::ostream& errors, const NoAnswer& none);

// A sentence on `errors`, and the code.
ExitCode fail(std::ostream& errors, ExitCode code, const std::string& sentence);

}  // namespace sluice
