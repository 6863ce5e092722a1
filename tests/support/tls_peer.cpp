#include "support/tls_peer.hpp"

#include <stdexcept>

#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace sluice::test {
namespace {

constexpr int kPatienceMs = 10'000;

SSL_CTX* make_context(const TlsWish& wish) {
    SSL_CTX* const context = SSL_CTX_new(TLS_client_method());
    if (!wish.authorities.empty()) {
        SSL_CTX_load_verify_file(context, wish.authorities.c_str());
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
    }
    if (!wish.certificate.empty()) {
        SSL_CTX_use_certificate_chain_file(context, wish.certificate.c_str());
        SSL_CTX_use_PrivateKey_file(context, wish.key.c_str(), SSL_FILETYPE_PEM);
    }
    if (!wish.protocol.empty()) {
        const std::string wire = static_cast<char>(wish.protocol.size()) + wish.protocol;
        SSL_CTX_set_alpn_protos(context, reinterpret_cast<const unsigned char*>(wire.data()),
                                static_cast<unsigned>(wire.size()));
    }
    if (wish.version_max != 0) {
        SSL_CTX_set_security_level(context, 0);
        SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, TLS1_VERSION, nullptr);
        SSL_CTX_ctrl(context, SSL_CTRL_SET_MAX_PROTO_VERSION, wish.version_max, nullptr);
    }
    return context;
}

}  // namespace

template <class Step>
int TlsPeer::run(Step step) {
    for (;;) {
        short wanted = 0;
        {
            const std::lock_guard lock{mutex_};
            ERR_clear_error();
            const int done = step();
            if (done > 0) {
                return done;
            }
            const int error = SSL_get_error(session_, done);
            ended_cleanly_ = ended_cleanly_ || error == SSL_ERROR_ZERO_RETURN;
            if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE) {
                return 0;
            }
            wanted = error == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT;
        }
        pollfd ready{socket_, wanted, 0};
        if (::poll(&ready, 1, kPatienceMs) == 0) {
            throw std::runtime_error{"the server did not answer in time"};
        }
    }
}

TlsPeer::TlsPeer(std::uint16_t port, const TlsWish& wish)
    : socket_{connect_to(port)}, context_{make_context(wish)}, session_{SSL_new(context_)} {
    ::fcntl(socket_, F_SETFL, O_NONBLOCK);
    SSL_set_fd(session_, socket_);
    if (run([this] { return SSL_connect(session_); }) <= 0) {
        const char* const reason = ERR_reason_error_string(ERR_get_error());
        const std::string words = reason == nullptr ? "closed" : reason;
        SSL_free(session_);
        SSL_CTX_free(context_);
        ::close(socket_);
        throw std::runtime_error{"no TLS: " + words};
    }
}

TlsPeer::~TlsPeer() {
    SSL_free(session_);
    SSL_CTX_free(context_);
    ::close(socket_);
}

std::size_t TlsPeer::send(std::string_view bytes) {
    std::size_t written = 0;
    return run([&] { return SSL_write_ex(session_, bytes.data(), bytes.size(), &written); }) > 0 ? written
                                                                                                 : 0;
}

std::size_t TlsPeer::receive(std::span<char> into) {
    std::size_t read = 0;
    return run([&] { return SSL_read_ex(session_, into.data(), into.size(), &read); }) > 0 ? read : 0;
}

std::string TlsPeer::shown_certificate() const {
    X509* const shown = SSL_get1_peer_certificate(session_);
    BIO* const memory = BIO_new(BIO_s_mem());
    PEM_write_bio_X509(memory, shown);
    char* data = nullptr;
    const long size = BIO_ctrl(memory, BIO_CTRL_INFO, 0, &data);
    std::string text{data, static_cast<std::size_t>(size)};
    BIO_free(memory);
    X509_free(shown);
    return text;
}

std::string TlsPeer::protocol() const {
    const unsigned char* chosen = nullptr;
    unsigned size = 0;
    SSL_get0_alpn_selected(session_, &chosen, &size);
    return {reinterpret_cast<const char*>(chosen), size};
}

void TlsPeer::cut_off() const { ::shutdown(socket_, SHUT_WR); }

}  // namespace sluice::test
