#pragma once

#include <memory>
#include <string>

#include "base/result.hpp"

namespace sluice::net {

struct TlsContext;

// Files in PEM form.
struct TlsClientFiles {
    std::string authorities{};  // Who vouches for servers. Empty: the system's.
    std::string certificate{};  // What a server is shown that asks for it, with its chain. Empty: nothing.
    std::string key{};          // Of the certificate.
};

// What clients make TLS with: 1.2 or later; chain and name of every server are verified. Fails with one
// sentence that says what to do.
Result<std::shared_ptr<TlsContext>, std::string> open_tls_client(const TlsClientFiles& files);

}  // namespace sluice::net
