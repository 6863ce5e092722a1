#include "net/http_message.hpp"

#include <algorithm>

namespace sluice::net {
namespace {

char lower(char letter) { return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter | 0x20) : letter; }

}  // namespace

std::string_view HttpResponse::header(std::string_view name) const {
    for (const auto& [known, value] : headers) {
        if (std::equal(known.begin(), known.end(), name.begin(), name.end(),
                       [](char one, char other) { return lower(one) == lower(other); })) {
            return value;
        }
    }
    return {};
}

std::string url_encoded(std::string_view text) {
    constexpr std::string_view kHex = "0123456789ABCDEF";
    std::string encoded;
    for (const char byte : text) {
        const bool plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
                           (byte >= '0' && byte <= '9') ||
                           std::string_view{"-._~"}.find(byte) != std::string::npos;
        if (plain) {
            encoded += byte;
        } else {
            encoded += '%';
            encoded += kHex[static_cast<unsigned char>(byte) >> 4U];
            encoded += kHex[static_cast<unsigned char>(byte) & 15U];
        }
    }
    return encoded;
}

}  // namespace sluice::net
