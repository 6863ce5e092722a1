#pragma once

#include <string>

#include "net/tls_stream_internal.hpp"

namespace sluice::net {

// Lets the session go on only with a server whose certificate is for this host. False: no memory.
bool expect_host(SSL* session, const std::string& host);

// Which fault of TLS it was, for whoever has to mend it, as what the server does: "shows a certificate that
// has expired (...)". `error` is OpenSSL's; 0: it has none.
std::string tls_fault(SSL* session, unsigned long error, const std::string& host);

}  // namespace sluice::net
