#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <sys/socket.h>

#include "base/result.hpp"
#include "net/host_port.hpp"

namespace sluice::net {

struct TlsContext;
class TlsSession;

// An address to connect to.
struct SocketAddress {
    sockaddr_storage storage{};
    socklen_t size = 0;
};

// The first address of the server. Fails with one sentence.
Result<SocketAddress, std::string> first_address(const ServerUrl& server);

// A client's connection that never waits once it is open, for one thread that watches many of them by epoll.
// Thread safety: none.
class ClientSocket {
public:
    ClientSocket();
    ~ClientSocket();
    ClientSocket(ClientSocket&& other) noexcept;
    ClientSocket& operator=(ClientSocket&& other) noexcept;

    // Waits until it is connected, over TLS when the server wants it. Fails with one sentence.
    static Result<ClientSocket, std::string> open(const ServerUrl& server, const SocketAddress& address,
                                                  const std::shared_ptr<TlsContext>& tls);

    [[nodiscard]] int descriptor() const { return descriptor_; }

    // False when not all of it could be sent at once.
    bool send(std::string_view bytes);
    // The bytes that came; 0: none yet. Nothing: the connection is lost. REQUIRES: room for 16 KiB, so that a
    // record of TLS is never left half read where epoll does not see it.
    std::optional<std::size_t> receive(std::span<char> into);

private:
    int descriptor_ = -1;
    std::unique_ptr<TlsSession> tls_;  // Null: plain.
};

}  // namespace sluice::net
