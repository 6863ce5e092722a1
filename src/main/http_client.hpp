#pragma once

#include <chrono>
#include <string>

#include "base/result.hpp"
#include "net/host_port.hpp"

namespace sluice {

struct HttpRequest {
    std::string method;
    std::string target;
    std::string body{};   // JSON; empty: none.
    std::string token{};  // Of the admin; empty: none.
};

struct HttpResponse {
    unsigned status = 0;
    std::string body;
};

// Sends one request over a connection of its own and waits for the answer, `patience` at most in all.
// Fails with one sentence when no answer came.
Result<HttpResponse, std::string> send_request(const net::HostPort& server, const HttpRequest& request,
                                               std::chrono::milliseconds patience);

// The text as a part of a path or a query: all but letters, digits and -._~ as %XX.
std::string url_encoded(std::string_view text);

}  // namespace sluice
