#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace sluice::net {
class TlsServer;
}

namespace sluice::test {

// The bytes under RawHttp. There are two of them, and a test is linked with one: plain, or over TLS with
// whatever certificate the server has.
class RawStream {
public:
    // Throws when there is no connection to be had.
    static std::unique_ptr<RawStream> open(std::uint16_t port);
    virtual ~RawStream() = default;

    // Bytes that were taken; 0: none will be.
    virtual std::size_t send(std::string_view bytes) = 0;
    // Bytes that came; 0: the stream is at its end. Throws when nothing comes for ten seconds.
    virtual std::size_t receive(std::span<char> into) = 0;
};

// What a door that is spoken to by these streams listens with. Null: plain.
const net::TlsServer* door_tls();

// A connected socket to 127.0.0.1 whose waits end after ten seconds. Throws when nobody listens.
int connect_to(std::uint16_t port);

}  // namespace sluice::test
