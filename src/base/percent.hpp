#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sluice {

// Puts bytes in the place of %XX, as in URLs. Nothing: a % is not followed by two hexadecimal digits.
std::optional<std::string> percent_decode(std::string_view text);

}  // namespace sluice
