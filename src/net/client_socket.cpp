#include "net/client_socket.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <unistd.h>

#include "net/tls_client_internal.hpp"

namespace sluice::net {
namespace {

constexpr timeval kConnectPatience{5, 0};
constexpr timeval kForEver{0, 0};

void set_patience(int descriptor, const timeval& patience) {
    ::setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ::setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
}

}  // namespace

class TlsSession {
public:
    TlsSession(std::shared_ptr<TlsContext> context, int descriptor)
        : context_{std::move(context)}, session_{SSL_new(context_->context.native_handle())} {
        SSL_set_fd(session_, descriptor);
    }
    ~TlsSession() { SSL_free(session_); }
    TlsSession(const TlsSession&) = delete;
    TlsSession& operator=(const TlsSession&) = delete;

    [[nodiscard]] SSL* get() const { return session_; }

private:
    std::shared_ptr<TlsContext> context_;
    SSL* session_;
};

Result<SocketAddress, std::string> first_address(const ServerUrl& server) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* list = nullptr;
    const std::string port = std::to_string(server.address.port);
    if (::getaddrinfo(server.address.host.c_str(), port.c_str(), &hints, &list) != 0) {
        return Unexpected{"The server's host '" + server.address.host + "' is not known."};
    }
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owned{list, &::freeaddrinfo};
    SocketAddress address;
    std::memcpy(&address.storage, list->ai_addr, list->ai_addrlen);
    address.size = list->ai_addrlen;
    return address;
}

ClientSocket::ClientSocket() = default;

ClientSocket::~ClientSocket() {
    if (descriptor_ >= 0) {
        ::close(descriptor_);
    }
}

ClientSocket::ClientSocket(ClientSocket&& other) noexcept
    : descriptor_{std::exchange(other.descriptor_, -1)}, tls_{std::move(other.tls_)} {}

ClientSocket& ClientSocket::operator=(ClientSocket&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    std::swap(tls_, other.tls_);
    return *this;
}

Result<ClientSocket, std::string> ClientSocket::open(const ServerUrl& server, const SocketAddress& address,
                                                     const std::shared_ptr<TlsContext>& tls) {
    const auto* where = reinterpret_cast<const sockaddr*>(&address.storage);
    ClientSocket made;
    made.descriptor_ = ::socket(where->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (made.descriptor_ < 0 || ::connect(made.descriptor_, where, address.size) != 0) {
        return Unexpected{"The server " + server.text() + " cannot be reached (" + std::strerror(errno) +
                          ")."};
    }
    const int on = 1;
    ::setsockopt(made.descriptor_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (server.tls) {
        set_patience(made.descriptor_, kConnectPatience);
        made.tls_ = std::make_unique<TlsSession>(tls, made.descriptor_);
        ERR_clear_error();
        if (!expect_host(made.tls_->get(), server.address.host) || SSL_connect(made.tls_->get()) != 1) {
            return Unexpected{"The server " + server.text() + " " +
                              tls_fault(made.tls_->get(), ERR_get_error(), server.address.host) + "."};
        }
        set_patience(made.descriptor_, kForEver);
    }
    ::fcntl(made.descriptor_, F_SETFL, O_NONBLOCK);
    return made;
}

bool ClientSocket::send(std::string_view bytes) {
    if (tls_) {
        ERR_clear_error();
        std::size_t written = 0;
        return SSL_write_ex(tls_->get(), bytes.data(), bytes.size(), &written) == 1 &&
               written == bytes.size();
    }
    return ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(bytes.size());
}

std::optional<std::size_t> ClientSocket::receive(std::span<char> into) {
    if (tls_) {
        ERR_clear_error();
        std::size_t read = 0;
        const int done = SSL_read_ex(tls_->get(), into.data(), into.size(), &read);
        const bool later = done != 1 && SSL_get_error(tls_->get(), done) == SSL_ERROR_WANT_READ;
        return done == 1 || later ? std::optional{read} : std::nullopt;
    }
    const auto count = ::recv(descriptor_, into.data(), into.size(), 0);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) {
        return 0;
    }
    return count > 0 ? std::optional{static_cast<std::size_t>(count)} : std::nullopt;
}

}  // namespace sluice::net
