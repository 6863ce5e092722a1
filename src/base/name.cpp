#include "base/name.hpp"

#include <cstdint>

namespace sluice {
namespace {

struct Sequence {
    std::size_t length;  // 0: not a leading byte.
    // The second byte excludes overlong forms, surrogates, code points past U+10FFFF and the control
    // characters from U+0080 to U+009F.
    std::uint8_t second_min;
    std::uint8_t second_max;
};

Sequence sequence_of(std::uint8_t lead) {
    if (lead >= 0xC3 && lead <= 0xDF) {
        return {2, 0x80, 0xBF};
    }
    switch (lead) {
        case 0xC2: return {2, 0xA0, 0xBF};
        case 0xE0: return {3, 0xA0, 0xBF};
        case 0xED: return {3, 0x80, 0x9F};
        case 0xF0: return {4, 0x90, 0xBF};
        case 0xF4: return {4, 0x80, 0x8F};
        default: break;
    }
    if (lead >= 0xE1 && lead <= 0xEF) {
        return {3, 0x80, 0xBF};
    }
    if (lead >= 0xF1 && lead <= 0xF3) {
        return {4, 0x80, 0xBF};
    }
    return {0, 0, 0};
}

bool continues(std::string_view text, std::size_t at, Sequence sequence) {
    if (at + sequence.length > text.size()) {
        return false;
    }
    const auto second = static_cast<std::uint8_t>(text[at + 1]);
    if (second < sequence.second_min || second > sequence.second_max) {
        return false;
    }
    for (std::size_t i = 2; i < sequence.length; ++i) {
        if ((static_cast<std::uint8_t>(text[at + i]) & 0xC0U) != 0x80U) {
            return false;
        }
    }
    return true;
}

}  // namespace

bool is_printable_utf8(std::string_view text) {
    std::size_t at = 0;
    while (at < text.size()) {
        const auto byte = static_cast<std::uint8_t>(text[at]);
        if (byte < 0x80) {
            if (byte < 0x20 || byte == 0x7F) {
                return false;
            }
            ++at;
            continue;
        }
        const Sequence sequence = sequence_of(byte);
        if (sequence.length == 0 || !continues(text, at, sequence)) {
            return false;
        }
        at += sequence.length;
    }
    return true;
}

}  // namespace sluice
