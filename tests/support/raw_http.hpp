#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "support/raw_stream.hpp"

namespace sluice::test {

struct HttpAnswer {
    int status = 0;
    std::string head;  // Status line and headers.
    std::string body;  // Chunks put together.

    // The value of a header, whatever its case. Empty when absent.
    [[nodiscard]] std::string header(std::string_view name) const;
    // The `code` of a problem body. Empty when it is none.
    [[nodiscard]] std::string code() const;
};

// A blocking connection to 127.0.0.1 that sends exactly the bytes it is given: what a well-behaved client
// library would never send is what these tests are about. Every wait ends after ten seconds, or the test
// fails by it.
class RawHttp {
public:
    explicit RawHttp(std::uint16_t port) : RawHttp{RawStream::open(port)} {}
    explicit RawHttp(std::unique_ptr<RawStream> stream) : stream_{std::move(stream)} {}

    void send(std::string_view bytes) const;
    // Like send, but gives up quietly when the server has closed.
    void try_send(std::string_view bytes) const;
    // The next answer. Nothing when the connection ended first.
    std::optional<HttpAnswer> read();
    // True when the server closes without sending more.
    bool closed();

private:
    bool fill();

    std::unique_ptr<RawStream> stream_;
    std::string unread_;
};

// A whole request with Host, and a Content-Length when there is a body.
std::string request_text(std::string_view method, std::string_view target, std::string_view body = {},
                         std::string_view headers = "Content-Type: application/json\r\n");

// One request on a connection of its own.
HttpAnswer call(std::uint16_t port, std::string_view method, std::string_view target,
                std::string_view body = {});

}  // namespace sluice::test
