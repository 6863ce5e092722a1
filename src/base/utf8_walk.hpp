#pragma once

#include <cstdint>
#include <string_view>

namespace sluice {

// The next character of a text that may not be UTF-8.
struct Utf8Step {
    std::string_view bytes;  // What was taken, at least one byte.
    char32_t character = 0;
    bool valid = false;  // False: one byte that belongs to no character.

    // True for what could end a line or steer a terminal.
    [[nodiscard]] bool control() const {
        return character < 0x20 || (character >= 0x7F && character <= 0x9F) || character == 0x2028 ||
               character == 0x2029;
    }
};

// REQUIRES: text is not empty.
Utf8Step next_character(std::string_view text);

}  // namespace sluice
