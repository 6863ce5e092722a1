#include <cerrno>
#include <cstdio>
#include <cstring>

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include "net/tls_files_internal.hpp"

namespace sluice::net {
namespace {

using Failed = Unexpected<std::string>;
using BioPointer = std::unique_ptr<BIO, decltype(&BIO_free)>;
using KeyPointer = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;

// Nobody sits at a daemon to type a passphrase.
int no_passphrase(char* /*buffer*/, int /*size*/, int /*writing*/, void* /*unused*/) { return -1; }

// The text of OpenSSL's last complaint, and none is left behind for others to find.
std::string last_complaint() {
    const char* const reason = ERR_reason_error_string(ERR_peek_last_error());
    std::string text = reason == nullptr ? "unknown" : reason;
    ERR_clear_error();
    return text;
}

Result<BioPointer, std::string> open_file(const std::string& what, const std::string& path) {
    errno = 0;
    BioPointer file{BIO_new_file(path.c_str(), "r"), &BIO_free};
    char byte = 0;
    // A folder can be opened, but not read.
    const bool readable = file && (BIO_read(file.get(), &byte, 1) == 1 || errno == 0);
    const int error = errno;
    if (!readable) {
        ERR_clear_error();
        return Failed{what + " " + path + " cannot be read: " + std::strerror(error) +
                      "; correct the path, or let this user read it."};
    }
    BIO_reset(file.get());
    return file;
}

Result<KeyPointer, std::string> read_key(const std::string& path) {
    const auto file = open_file("The TLS key", path);
    if (!file) {
        return Failed{file.error()};
    }
    ERR_clear_error();
    KeyPointer key{PEM_read_bio_PrivateKey(file->get(), nullptr, &no_passphrase, nullptr), &EVP_PKEY_free};
    if (!key) {
        return Failed{"The TLS key " + path + " holds no private key in PEM form without a passphrase (" +
                      last_complaint() + "); 'openssl pkey -in " + path + "' writes one."};
    }
    return key;
}

}  // namespace

Result<void, std::string> use_pair(SSL_CTX* context, const std::string& certificate, const std::string& key) {
    if (const auto file = open_file("The TLS certificate", certificate); !file) {
        return Failed{file.error()};
    }
    ERR_clear_error();
    if (SSL_CTX_use_certificate_chain_file(context, certificate.c_str()) != 1) {
        return Failed{"The TLS certificate " + certificate + " cannot be used (" + last_complaint() +
                      "); it must hold certificates in PEM form, the server's own first."};
    }
    const auto read = read_key(key);
    if (!read) {
        return Failed{read.error()};
    }
    if (SSL_CTX_use_PrivateKey(context, read->get()) != 1 || SSL_CTX_check_private_key(context) != 1) {
        return Failed{"The TLS key " + key + " does not belong to the certificate " + certificate + " (" +
                      last_complaint() + "); give the key that the certificate was made with."};
    }
    return {};
}

Result<void, std::string> use_authorities(SSL_CTX* context, const std::string& file) {
    if (const auto opened = open_file("The file of TLS authorities", file); !opened) {
        return Failed{opened.error()};
    }
    ERR_clear_error();
    if (SSL_CTX_load_verify_file(context, file.c_str()) != 1) {
        return Failed{"The file of TLS authorities " + file + " holds no certificate in PEM form (" +
                      last_complaint() + "); give the certificate of the authority."};
    }
    return {};
}

void use_sound_defaults(SSL_CTX* context) {
    // The macros of OpenSSL have casts of the old style.
    SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, TLS1_2_VERSION, nullptr);
    SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20");
    SSL_CTX_set_options(context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
    SSL_CTX_ctrl(context, SSL_CTRL_MODE, SSL_MODE_RELEASE_BUFFERS, nullptr);
}

std::string protocol_on_wire(const std::string& protocol) {
    return static_cast<char>(protocol.size()) + protocol;
}

}  // namespace sluice::net
