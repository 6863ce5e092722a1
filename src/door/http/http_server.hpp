#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/log.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "door/http/admin_gate.hpp"
#include "net/tls_server.hpp"

namespace sluice::http {

struct ServerOptions {
    std::string host = "127.0.0.1";
    std::uint16_t port = 8080;  // 0: any free one.
    std::size_t io_threads = 1;
    std::size_t connections_max = 20'000;
    std::chrono::seconds idle_timeout{60};     // Between two requests.
    std::chrono::seconds receive_timeout{10};  // For headers, each piece of a body, a TLS handshake.
    std::chrono::seconds body_timeout{60};     // For a body as a whole; not for the stream.
    std::size_t body_rate_min = 1024;          // Bytes a second of a body, once receive_timeout has passed.
    const net::TlsServer* tls = nullptr;       // Outlives the server. Null: plain HTTP.
};

struct RouteTable;

// What the door opens on. All of it outlives the server.
struct ServerWorld {
    AdminGate& gate;
    Log& log;
    std::span<const RouteTable> tables;  // Of every part, and the server's own. Read while it starts.
};

// The HTTP door: listens, translates requests into use cases and their outcomes into responses.
class Server {
public:
    virtual ~Server() = default;

    [[nodiscard]] virtual std::uint16_t port() const = 0;
    [[nodiscard]] virtual std::size_t connections_approx() const = 0;

    // Accepts nothing new, lets requests under way finish, closes what is idle, and returns when all
    // connections are gone or the patience is over.
    virtual void drain(std::chrono::milliseconds patience) = 0;
};

// Fails with one sentence when the address cannot be listened on.
Result<std::unique_ptr<Server>, std::string> start_server(const ServerOptions& options,
                                                          const ServerWorld& world);

}  // namespace sluice::http
