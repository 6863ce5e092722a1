#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include <openssl/ssl.h>

#include "support/raw_stream.hpp"

namespace sluice::test {

// How a client of these tests makes TLS.
struct TlsWish {
    std::string authorities{};  // File. Empty: any certificate will do.
    std::string certificate{};  // Files of its own. Empty: none.
    std::string key{};
    std::string protocol{};  // It offers this one only. Empty: it offers none.
    int version_max = 0;     // As TLS1_1_VERSION. 0: the newest.
};

// What RawStream::open wishes in tests that are linked with its TLS.
TlsWish& raw_wish();

// A client's TLS, by OpenSSL alone: nothing of what is under test is in it. Reading and writing may be done
// by two threads.
class TlsPeer final : public RawStream {
public:
    // Throws with OpenSSL's words when the handshake fails.
    TlsPeer(std::uint16_t port, const TlsWish& wish);
    ~TlsPeer() override;
    TlsPeer(const TlsPeer&) = delete;
    TlsPeer& operator=(const TlsPeer&) = delete;

    std::size_t send(std::string_view bytes) override;
    std::size_t receive(std::span<char> into) override;

    // True when the server has said that nothing more comes; false when it was only cut off.
    [[nodiscard]] bool ended_cleanly() const { return ended_cleanly_; }
    // The server's certificate, in PEM form.
    [[nodiscard]] std::string shown_certificate() const;
    [[nodiscard]] std::string protocol() const;
    // Ends TCP in the middle of TLS.
    void cut_off() const;

private:
    // Runs a step of OpenSSL until it is done; what it returns.
    template <class Step>
    int run(Step step);

    int socket_;
    SSL_CTX* context_;
    SSL* session_;
    std::mutex mutex_;  // Held while OpenSSL works, never while it waits.
    bool ended_cleanly_ = false;
};

}  // namespace sluice::test
