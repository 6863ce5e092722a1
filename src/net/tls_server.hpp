#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "base/result.hpp"
#include "base/time.hpp"

namespace sluice::net {

struct TlsContext;

// Files in PEM form.
struct TlsFiles {
    std::string certificate;  // The server's own first, then those that vouch for it.
    std::string key;          // Without a passphrase.
    std::string client_ca;    // Who vouches for clients. Empty: clients need no certificate.
};

// When a certificate holds.
struct Validity {
    Instant from;
    Instant until;
};

// "expired at ..." or "is not valid before ...". Empty: it holds now.
std::string fault_of(const Validity& validity, Instant now);

// What a listener shows to its clients, and which clients it lets in: TLS 1.2 or later. A client without a
// certificate of `client_ca`, where there is one, is refused in the handshake.
// Thread safety: any thread.
class TlsServer {
public:
    // `protocol` is what is spoken inside (ALPN), as "http/1.1"; a client that offers others only is refused.
    // Fails with one sentence that says what to do. An expired certificate is taken: see validity().
    static Result<std::unique_ptr<TlsServer>, std::string> open(TlsFiles files, std::string protocol);

    // Reads the files again. When it fails, with one sentence, all of the old stays in force. Connections
    // under way keep what they began with.
    Result<void, std::string> reload();

    [[nodiscard]] Validity validity() const;
    [[nodiscard]] const TlsFiles& files() const { return files_; }
    [[nodiscard]] std::shared_ptr<TlsContext> context() const;

private:
    struct Loaded {
        std::shared_ptr<TlsContext> context;  // Shared: a handshake may be under way when it is replaced.
        Validity validity;
    };

    TlsServer(TlsFiles files, std::string protocol, Loaded loaded)
        : files_{std::move(files)}, protocol_{std::move(protocol)}, loaded_{std::move(loaded)} {}
    static Result<Loaded, std::string> load(const TlsFiles& files, const std::string& protocol);

    const TlsFiles files_;
    const std::string protocol_;
    mutable std::mutex mutex_;
    Loaded loaded_;  // Guarded by mutex_.
};

}  // namespace sluice::net
