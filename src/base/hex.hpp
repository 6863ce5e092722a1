#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sluice {

// What a hexadecimal digit stands for, in either case.
constexpr std::optional<unsigned> hex_value(char digit) {
    if (digit >= '0' && digit <= '9') {
        return static_cast<unsigned>(digit - '0');
    }
    const char lower = static_cast<char>(digit | 0x20);
    return lower >= 'a' && lower <= 'f' ? std::optional{static_cast<unsigned>(lower - 'a') + 10}
                                        : std::nullopt;
}

// Appends the last so many hexadecimal digits of a number, in lower case.
inline void append_hex(std::string& text, unsigned number, unsigned digits) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    while (digits-- > 0) {
        text += kDigits[(number >> (4 * digits)) & 0xFU];
    }
}

}  // namespace sluice
