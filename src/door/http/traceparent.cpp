#include "door/http/traceparent.hpp"

namespace sluice::http {
namespace {

bool is_lower_hex(std::string_view text) {
    return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// An id of the standard: neither of other digits nor of zeros alone.
bool is_id(std::string_view text) {
    return is_lower_hex(text) && text.find_first_not_of('0') != std::string_view::npos;
}

}  // namespace

std::string_view well_formed_traceparent(std::string_view header) {
    constexpr std::size_t kSize = 55;
    constexpr std::size_t kTrace = 3;
    constexpr std::size_t kParent = 36;
    constexpr std::size_t kFlags = 53;
    const bool well_formed = header.size() == kSize && header.starts_with("00-") &&
                             header[kParent - 1] == '-' && header[kFlags - 1] == '-' &&
                             is_id(header.substr(kTrace, 32)) && is_id(header.substr(kParent, 16)) &&
                             is_lower_hex(header.substr(kFlags));
    return well_formed ? header : std::string_view{};
}

}  // namespace sluice::http
