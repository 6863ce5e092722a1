#include "door/http/admin_gate.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>

#include <openssl/crypto.h>
#include <openssl/evp.h>

namespace sluice::http {
namespace {

constexpr std::size_t kTokenBytesMin = 32;
constexpr std::size_t kTriesPerMinute = 10;
constexpr std::size_t kAddressesMax = 10'000;
constexpr std::chrono::minutes kMemory{1};

std::array<unsigned char, 32> digest_of(std::string_view text) {
    std::array<unsigned char, 32> digest{};
    unsigned int size = 0;
    EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha256(), nullptr);
    return digest;
}

// What follows "Bearer ", whose case does not matter. Empty when there is none.
std::string_view bearer_of(std::string_view authorization) {
    constexpr std::string_view kScheme = "bearer ";
    if (authorization.size() <= kScheme.size()) {
        return {};
    }
    for (std::size_t i = 0; i < kScheme.size(); ++i) {
        const char c = authorization[i];
        if ((c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c) != kScheme[i]) {
            return {};
        }
    }
    return authorization.substr(kScheme.size());
}

}  // namespace

Result<void, std::string> AdminGate::load(const std::string& path) {
    errno = 0;
    std::ifstream file{path};
    std::string token;
    if (!file || !std::getline(file, token)) {
        return Unexpected{"The token file " + path +
                          " cannot be read: " + (errno == 0 ? "it is empty" : std::strerror(errno)) + "."};
    }
    while (!token.empty() && (token.back() == '\r' || token.back() == ' ')) {
        token.pop_back();
    }
    if (token.size() < kTokenBytesMin) {
        return Unexpected{"The token in " + path + " is shorter than 32 bytes."};
    }
    const Digest digest = digest_of(token);
    OPENSSL_cleanse(token.data(), token.size());
    const std::lock_guard lock{mutex_};
    token_ = digest;
    return {};
}

bool AdminGate::guarded() const {
    const std::lock_guard lock{mutex_};
    return token_.has_value();
}

Admission AdminGate::admit(std::string_view authorization, const std::string& address) {
    const SteadyTime now = std::chrono::steady_clock::now();
    const Digest given = digest_of(bearer_of(authorization));
    const std::lock_guard lock{mutex_};
    if (!token_) {
        return Admission::Unguarded;
    }
    if (CRYPTO_memcmp(given.data(), token_->data(), given.size()) == 0) {
        return Admission::Granted;
    }
    const bool too_many = tried_too_often(address, now);
    if (authorization.empty() || too_many) {
        return too_many ? Admission::TooManyTries : Admission::TokenMissing;  // Nothing new was guessed.
    }
    if (failures_.size() >= kAddressesMax) {
        failures_.clear();  // A flood of addresses: forgetting is better than growing.
    }
    failures_[address].push_back(now);
    return Admission::TokenMissing;
}

bool AdminGate::tried_too_often(const std::string& address, SteadyTime now) {
    const auto known = failures_.find(address);
    if (known == failures_.end()) {
        return false;
    }
    auto& tries = known->second;
    while (!tries.empty() && now - tries.front() > kMemory) {
        tries.pop_front();
    }
    if (tries.empty()) {
        failures_.erase(known);
        return false;
    }
    return tries.size() >= kTriesPerMinute;
}

}  // namespace sluice::http
