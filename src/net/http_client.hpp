#pragma once

#include <memory>

#include <boost/asio/awaitable.hpp>

#include "net/host_port.hpp"
#include "net/http_message.hpp"

namespace sluice::net {

class NameLookups;

// Sends HTTP/1.1 requests over connections that it keeps. Follows no redirect. Sends a request once; only one
// that is repeatable is sent again, once, when a kept connection proves to be dead before anything came back.
// Goes before its io_context, and then waits for names that the system is still searching for.
// Thread safety: none; belongs to one io thread, where any number of coroutines may use it at the same time.
class HttpClient {
public:
    explicit HttpClient(HttpClientOptions options);
    ~HttpClient();
    HttpClient(const HttpClient&) = delete;
    HttpClient& operator=(const HttpClient&) = delete;

    // Answers within `patience`. REQUIRES: the client outlives the call.
    boost::asio::awaitable<HttpOutcome> send(ServerUrl server, HttpRequest request,
                                             std::chrono::milliseconds patience);

    // Connections that wait for a next request.
    [[nodiscard]] std::size_t idle() const;

private:
    class Pool;

    const HttpClientOptions options_;
    const std::unique_ptr<Pool> pool_;
    const std::unique_ptr<NameLookups> names_;
};

}  // namespace sluice::net
