#pragma once

#include <memory>
#include <string>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>

namespace sluice::net {

// What the TLS of a listener or of a client is made with. Shared by the streams that were made with it: they
// keep it when it is replaced.
struct TlsContext {
    explicit TlsContext(boost::asio::ssl::context::method method, std::string protocol_on_wire = {})
        : protocol{std::move(protocol_on_wire)}, context{method} {}

    std::string protocol;  // What is spoken inside, as ALPN has it on the wire.
    boost::asio::ssl::context context;
};

// TLS over a socket that somebody else owns.
struct TlsStream {
    TlsStream(boost::asio::ip::tcp::socket& socket, std::shared_ptr<TlsContext> with)
        : made_with{std::move(with)}, stream{socket, made_with->context} {}

    // Why a handshake or a read failed: OpenSSL's own words, those about a certificate first.
    [[nodiscard]] std::string fault(const boost::system::error_code& error) {
        const long verified = SSL_get_verify_result(stream.native_handle());
        return verified == X509_V_OK ? error.message() : X509_verify_cert_error_string(verified);
    }

    std::shared_ptr<TlsContext> made_with;
    boost::asio::ssl::stream<boost::asio::ip::tcp::socket&> stream;
};

}  // namespace sluice::net
