#include "base/utf8_walk.hpp"

namespace sluice {

Utf8Step next_character(std::string_view text) {
    const Utf8Step broken{text.substr(0, 1)};
    const auto first = static_cast<unsigned char>(text.front());
    if (first < 0x80) {
        return {text.substr(0, 1), first, true};
    }
    const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (first < 0xC2 || first > 0xF4 || text.size() < length) {
        return broken;
    }
    char32_t character = first & (0xFFU >> (length + 1));
    for (std::size_t i = 1; i < length; ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        if ((byte & 0xC0U) != 0x80) {
            return broken;
        }
        character = (character << 6U) | (byte & 0x3FU);
    }
    const char32_t least = length == 4 ? 0x10000 : length == 3 ? 0x800 : 0x80;
    const bool surrogate = character >= 0xD800 && character <= 0xDFFF;
    if (character < least || character > 0x10FFFF || surrogate) {
        return broken;
    }
    return {text.substr(0, length), character, true};
}

}  // namespace sluice
