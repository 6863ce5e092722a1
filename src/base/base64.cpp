#include "base/base64.hpp"

#include <cstdint>

namespace sluice {
namespace {

constexpr std::string_view kUsual = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kOfUrls = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

std::string encode(std::string_view bytes, std::string_view alphabet) {
    std::string text;
    std::uint32_t bits = 0;
    unsigned held = 0;  // How many of the last bits are not written yet.
    for (const char byte : bytes) {
        bits = (bits << 8U) | static_cast<std::uint8_t>(byte);
        for (held += 8; held >= 6; held -= 6) {
            text += alphabet[(bits >> (held - 6)) & 0x3FU];
        }
    }
    if (held > 0) {
        text += alphabet[(bits << (6 - held)) & 0x3FU];
    }
    return text;
}

}  // namespace

std::string base64(std::string_view bytes) {
    std::string text = encode(bytes, kUsual);
    text.append((4 - text.size() % 4) % 4, '=');
    return text;
}

std::string base64_url(std::string_view bytes) { return encode(bytes, kOfUrls); }

std::optional<std::string> base64_decode(std::string_view text) {
    const std::size_t end = text.find('=');
    if (end != std::string_view::npos) {
        if (text.size() % 4 != 0 || text.size() - end > 2 ||
            text.find_first_not_of('=', end) != std::string_view::npos) {
            return std::nullopt;
        }
        text = text.substr(0, end);
    }
    std::string bytes;
    std::uint32_t bits = 0;
    unsigned held = 0;
    for (const char letter : text) {
        const std::size_t value = kUsual.find(letter);
        if (value == std::string_view::npos) {
            return std::nullopt;
        }
        bits = (bits << 6U) | static_cast<std::uint32_t>(value);
        held += 6;
        if (held >= 8) {
            held -= 8;
            bytes += static_cast<char>((bits >> held) & 0xFFU);
        }
    }
    // What is left is padding by zero bits; six of them would be a letter that says nothing.
    const bool whole = held < 6 && (bits & ((1U << held) - 1)) == 0;
    return whole ? std::optional{std::move(bytes)} : std::nullopt;
}

}  // namespace sluice
