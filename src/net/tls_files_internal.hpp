#pragma once

#include <memory>
#include <string>

#include <openssl/ssl.h>

#include "base/result.hpp"

namespace sluice::net {

// Gives the context a certificate with its chain, and its key. Fails with one sentence that says what to do.
Result<void, std::string> use_pair(SSL_CTX* context, const std::string& certificate, const std::string& key);

// The context believes these authorities, and no others. Fails with one sentence that says what to do.
Result<void, std::string> use_authorities(SSL_CTX* context, const std::string& file);

// What both ends want: TLS 1.2 or later, and of 1.2 only ciphers that are authenticated and forward secret.
void use_sound_defaults(SSL_CTX* context);

// "http/1.1" as ALPN has it on the wire.
std::string protocol_on_wire(const std::string& protocol);

}  // namespace sluice::net
