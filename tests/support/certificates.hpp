#pragma once

#include <chrono>
#include <memory>
#include <string>

namespace sluice::test {

// What a certificate says.
struct CertificateWords {
    std::string name;                  // Of the subject.
    std::string alternatives{};        // As OpenSSL writes them: "DNS:localhost,IP:127.0.0.1". Empty: none.
    std::chrono::seconds from{-3600};  // From now on.
    std::chrono::seconds until{3600};
};

// A certificate and its key, and who they can vouch for.
class Certificate {
public:
    // An authority that vouches for itself.
    static Certificate authority(const std::string& name);
    // One that this authority vouches for.
    [[nodiscard]] Certificate issue(const CertificateWords& words) const;

    [[nodiscard]] std::string certificate_pem() const;
    [[nodiscard]] std::string key_pem() const;

private:
    struct Parts;
    explicit Certificate(std::shared_ptr<Parts> parts) : parts_{std::move(parts)} {}
    static Certificate make(const CertificateWords& words, const Parts* issuer);

    std::shared_ptr<Parts> parts_;
};

// A certificate that is good for this machine.
inline CertificateWords for_this_machine() { return {"localhost", "DNS:localhost,IP:127.0.0.1,IP:::1"}; }

// The file's new content, in place of all that it had.
void write_file(const std::string& path, const std::string& content);

}  // namespace sluice::test
