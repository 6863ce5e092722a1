#include "net/tls_client.hpp"

#include <openssl/err.h>
#include <openssl/x509v3.h>

#include "net/tls_client_internal.hpp"
#include "net/tls_files_internal.hpp"

namespace sluice::net {

namespace asio = boost::asio;

Result<std::shared_ptr<TlsContext>, std::string> open_tls_client(const TlsClientFiles& files) {
    auto made = std::make_shared<TlsContext>(asio::ssl::context::tls_client, protocol_on_wire("http/1.1"));
    SSL_CTX* const context = made->context.native_handle();
    use_sound_defaults(context);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
    SSL_CTX_set_alpn_protos(context, reinterpret_cast<const unsigned char*>(made->protocol.data()),
                            static_cast<unsigned>(made->protocol.size()));
    if (files.authorities.empty()) {
        SSL_CTX_set_default_verify_paths(context);
    } else if (const auto used = use_authorities(context, files.authorities); !used) {
        return Unexpected{used.error()};
    }
    if (!files.certificate.empty()) {
        if (const auto used = use_pair(context, files.certificate, files.key); !used) {
            return Unexpected{used.error()};
        }
    }
    return made;
}

bool expect_host(SSL* session, const std::string& host) {
    // By OpenSSL itself, which tells a wrong name from other faults. An address is no name, and not
    // announced.
    X509_VERIFY_PARAM* const wanted = SSL_get0_param(session);
    if (X509_VERIFY_PARAM_set1_ip_asc(wanted, host.c_str()) == 1) {
        return true;
    }
    ERR_clear_error();
    std::string name = host;
    // SSL_set_tlsext_host_name, whose macro has a cast of the old style.
    return X509_VERIFY_PARAM_set1_host(wanted, host.data(), host.size()) == 1 &&
           SSL_ctrl(session, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, name.data()) == 1;
}

std::string tls_fault(SSL* session, unsigned long error, const std::string& host) {
    const long verified = SSL_get_verify_result(session);
    const char* const reason = ERR_reason_error_string(error);
    const std::string own_words = " (" +
                                  std::string{verified != X509_V_OK ? X509_verify_cert_error_string(verified)
                                              : reason != nullptr   ? reason
                                                                    : "the connection was closed"} +
                                  ")";
    switch (verified) {
        case X509_V_OK: break;
        case X509_V_ERR_HOSTNAME_MISMATCH:
        case X509_V_ERR_IP_ADDRESS_MISMATCH:
            return "shows a certificate for another name than '" + host + "'" + own_words;
        case X509_V_ERR_CERT_HAS_EXPIRED: return "shows a certificate that has expired" + own_words;
        case X509_V_ERR_CERT_NOT_YET_VALID: return "shows a certificate that is not valid yet" + own_words;
        default: return "shows a certificate that no authority known here vouches for" + own_words;
    }
    switch (ERR_GET_REASON(error)) {
        case SSL_R_WRONG_VERSION_NUMBER:
        case SSL_R_HTTP_REQUEST: return "does not speak TLS on this port" + own_words;
        case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED: return "wants a client certificate" + own_words;
        case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
        case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
        case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
        case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN: return "refuses the client certificate" + own_words;
        default: return "fails in TLS" + own_words;
    }
}

}  // namespace sluice::net
