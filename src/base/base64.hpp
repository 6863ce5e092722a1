#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sluice {

// With padding, in the usual alphabet.
std::string base64(std::string_view bytes);
// Without padding, in the alphabet of URLs (- and _).
std::string base64_url(std::string_view bytes);

// Reads the usual alphabet, with or without padding. Nothing: it is something else.
std::optional<std::string> base64_decode(std::string_view text);

}  // namespace sluice
