#include "net/tls_server.hpp"

#include <array>
#include <ctime>

#include <openssl/x509.h>

#include "base/iso8601.hpp"
#include "net/tls_files_internal.hpp"
#include "net/tls_stream_internal.hpp"

namespace sluice::net {
namespace {

using Failed = Unexpected<std::string>;

Instant instant_of(const ASN1_TIME* time) {
    std::tm fields{};
    ASN1_TIME_to_tm(time, &fields);
    return Instant{std::chrono::seconds{::timegm(&fields)}};
}

// The text that was left beside the context, as ALPN has it on the wire. The parameters are OpenSSL's.
// NOLINTNEXTLINE(readability-function-size)
int choose_protocol(SSL* /*session*/, const unsigned char** chosen, unsigned char* chosen_size,
                    const unsigned char* offered, unsigned int offered_size, void* ours) {
    const auto& wire = *static_cast<const std::string*>(ours);
    unsigned char* out = nullptr;
    const auto* known = reinterpret_cast<const unsigned char*>(wire.data());
    if (SSL_select_next_proto(&out, chosen_size, known, static_cast<unsigned>(wire.size()), offered,
                              offered_size) != OPENSSL_NPN_NEGOTIATED) {
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    }
    *chosen = out;
    return SSL_TLSEXT_ERR_OK;
}

Result<void, std::string> let_in_only(SSL_CTX* context, const std::string& client_ca) {
    if (const auto used = use_authorities(context, client_ca); !used) {
        return Failed{used.error()};
    }
    // The names of the authorities, so that a client knows which of its certificates is wanted.
    SSL_CTX_set_client_CA_list(context, SSL_load_client_CA_file(client_ca.c_str()));
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
    return {};
}

}  // namespace

std::string fault_of(const Validity& validity, Instant now) {
    return now >= validity.until ? "expired at " + format_instant(validity.until)
           : now < validity.from ? "is not valid before " + format_instant(validity.from)
                                 : std::string{};
}

Result<TlsServer::Loaded, std::string> TlsServer::load(const TlsFiles& files, const std::string& protocol) {
    auto made =
        std::make_shared<TlsContext>(boost::asio::ssl::context::tls_server, protocol_on_wire(protocol));
    SSL_CTX* const context = made->context.native_handle();
    use_sound_defaults(context);
    SSL_CTX_set_options(context, SSL_OP_CIPHER_SERVER_PREFERENCE);
    // Sessions are resumed by tickets that clients keep; nothing is kept here for those that never come back.
    SSL_CTX_ctrl(context, SSL_CTRL_SET_SESS_CACHE_MODE, SSL_SESS_CACHE_OFF, nullptr);
    constexpr std::array<unsigned char, 6> kResumedHere{'s', 'l', 'u', 'i', 'c', 'e'};
    SSL_CTX_set_session_id_context(context, kResumedHere.data(), kResumedHere.size());
    SSL_CTX_set_alpn_select_cb(context, &choose_protocol, &made->protocol);
    if (const auto used = use_pair(context, files.certificate, files.key); !used) {
        return Failed{used.error()};
    }
    if (!files.client_ca.empty()) {
        if (const auto used = let_in_only(context, files.client_ca); !used) {
            return Failed{used.error()};
        }
    }
    const X509* const own = SSL_CTX_get0_certificate(context);
    const Validity validity{instant_of(X509_get0_notBefore(own)), instant_of(X509_get0_notAfter(own))};
    return Loaded{std::move(made), validity};
}

Result<std::unique_ptr<TlsServer>, std::string> TlsServer::open(TlsFiles files, std::string protocol) {
    auto loaded = load(files, protocol);
    if (!loaded) {
        return Failed{loaded.error()};
    }
    return std::unique_ptr<TlsServer>{
        new TlsServer{std::move(files), std::move(protocol), std::move(*loaded)}};
}

Result<void, std::string> TlsServer::reload() {
    auto loaded = load(files_, protocol_);
    if (!loaded) {
        return Failed{loaded.error()};
    }
    const std::lock_guard lock{mutex_};
    loaded_ = std::move(*loaded);
    return {};
}

Validity TlsServer::validity() const {
    const std::lock_guard lock{mutex_};
    return loaded_.validity;
}

std::shared_ptr<TlsContext> TlsServer::context() const {
    const std::lock_guard lock{mutex_};
    return loaded_.context;
}

}  // namespace sluice::net
