#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <boost/asio/awaitable.hpp>

#include "base/log.hpp"
#include "base/result.hpp"
#include "net/connection.hpp"
#include "net/io_threads.hpp"
#include "net/tls_server.hpp"

namespace sluice::net {

// What is spoken with the clients of a listener.
// Thread safety: called by all io threads at the same time.
class Protocol {
public:
    virtual ~Protocol() = default;

    // Serves a client until it leaves, errs, or the process drains.
    virtual boost::asio::awaitable<void> serve(Connection& connection) = 0;
    // Tells a client that there are too many already.
    virtual boost::asio::awaitable<void> turn_away(Connection& connection) = 0;
    // What a client is told that does not speak TLS where TLS is wanted. Empty: nothing.
    [[nodiscard]] virtual std::string_view answer_without_tls() const { return {}; }
};

struct ListenerOptions {
    std::string host = "127.0.0.1";  // A numeric address.
    std::uint16_t port = 0;          // 0: any free one.
    std::size_t connections_max = 20'000;
    std::chrono::seconds handshake_timeout{10};  // For all of a TLS handshake.
    ConnectionLimits connection{};
};

// All of it outlives the listener.
struct ListenerWorld {
    IoThreads& threads;
    Protocol& protocol;
    Log& log;
    const TlsServer* tls = nullptr;  // Null: clients speak without TLS.
};

// Accepts clients and hands each to the next io thread in turn.
class Listener {
public:
    virtual ~Listener() = default;

    [[nodiscard]] virtual std::uint16_t port() const = 0;
    [[nodiscard]] virtual std::size_t connections_approx() const = 0;

    // Accepts nothing new, lets what is under way finish, closes what is idle, and returns when all
    // connections are gone or the patience is over.
    virtual void drain(std::chrono::milliseconds patience) = 0;
};

// Clients that come above `connections_max` are turned away; over TLS they are closed before the handshake,
// which would cost more than the answer. Fails with one sentence when the address cannot be listened on.
// REQUIRES: the threads are stopped before the listener goes.
Result<std::unique_ptr<Listener>, std::string> open_listener(const ListenerOptions& options,
                                                             const ListenerWorld& world);

}  // namespace sluice::net
