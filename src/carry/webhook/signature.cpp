#include "carry/webhook/signature.hpp"

#include <array>

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "base/base64.hpp"

namespace sluice::webhook {
namespace {

using Digest = std::array<unsigned char, EVP_MAX_MD_SIZE>;

std::string_view bytes_of(const Digest& digest, unsigned size) {
    return {reinterpret_cast<const char*>(digest.data()), size};
}

}  // namespace

Result<std::string, std::string> parse_secret(std::string_view text) {
    constexpr std::string_view kPrefix = "whsec_";
    constexpr std::string_view kSpace = " \t\r\n";
    const std::size_t begin = std::min(text.find_first_not_of(kSpace), text.size());
    text.remove_prefix(begin);
    text = text.substr(0, text.find_last_not_of(kSpace) + 1);
    if (text.starts_with(kPrefix)) {
        text.remove_prefix(kPrefix.size());
    }
    auto key = base64_decode(text);
    if (!key) {
        return Unexpected{std::string{"is not base64"}};
    }
    if (key->empty()) {
        return Unexpected{std::string{"is empty"}};
    }
    return *std::move(key);
}

std::string webhook_id(const EventId& event_id) {
    Digest digest{};
    unsigned size = 0;
    EVP_Digest(event_id.text().data(), event_id.text().size(), digest.data(), &size, EVP_sha256(), nullptr);
    return "evt_" + base64_url(bytes_of(digest, size));
}

std::string webhook_signature(const std::vector<std::string>& keys, std::string_view id,
                              std::string_view timestamp, std::string_view body) {
    std::string signed_text{id};
    signed_text += '.';
    signed_text += timestamp;
    signed_text += '.';
    signed_text += body;
    std::string signatures;
    for (const std::string& key : keys) {
        Digest digest{};
        unsigned size = 0;
        HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
             reinterpret_cast<const unsigned char*>(signed_text.data()), signed_text.size(), digest.data(),
             &size);
        signatures += signatures.empty() ? "v1," : " v1,";
        signatures += base64(bytes_of(digest, size));
    }
    return signatures;
}

std::string idempotency_key(const EventId& event_id) {
    constexpr std::string_view kHex = "0123456789ABCDEF";
    std::string key;
    for (const char letter : event_id.text()) {
        if (letter > 0x20 && letter < 0x7F && letter != '%') {
            key += letter;
            continue;
        }
        const auto byte = static_cast<unsigned char>(letter);
        key += '%';
        key += kHex[byte >> 4U];
        key += kHex[byte & 0xFU];
    }
    return key;
}

}  // namespace sluice::webhook
