#pragma once

#include <memory>

#include "net/host_port.hpp"
#include "net/http_message.hpp"

namespace sluice::net {

// HttpClient for a thread that waits for each answer.
// Thread safety: none.
class BlockingHttpClient {
public:
    explicit BlockingHttpClient(HttpClientOptions options);
    ~BlockingHttpClient();
    BlockingHttpClient(const BlockingHttpClient&) = delete;
    BlockingHttpClient& operator=(const BlockingHttpClient&) = delete;

    // Answers within `patience`.
    HttpOutcome send(const ServerUrl& server, HttpRequest request, std::chrono::milliseconds patience);

private:
    struct Parts;

    const std::unique_ptr<Parts> parts_;
};

}  // namespace sluice::net
