#include "net/http_wire.hpp"

#include <charconv>

namespace sluice::net {
namespace {

bool same_name(std::string_view name, std::string_view lower) {
    if (name.size() != lower.size()) {
        return false;
    }
    for (std::size_t i = 0; i < name.size(); ++i) {
        const char letter =
            name[i] >= 'A' && name[i] <= 'Z' ? static_cast<char>(name[i] - 'A' + 'a') : name[i];
        if (letter != lower[i]) {
            return false;
        }
    }
    return true;
}

template <class Number>
std::optional<Number> whole_number(std::string_view text) {
    Number number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc{} && end == text.data() + text.size() ? std::optional{number} : std::nullopt;
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && text.front() == ' ') {
        text.remove_prefix(1);
    }
    while (!text.empty() && text.back() == ' ') {
        text.remove_suffix(1);
    }
    return text;
}

// Reads one header line. False when it makes the response one that we do not read.
bool read_header(std::string_view line, std::size_t& body_size, bool& closes) {
    const std::size_t colon = line.find(':');
    const std::string_view name = line.substr(0, colon);
    const std::string_view value = colon == std::string_view::npos ? "" : trimmed(line.substr(colon + 1));
    if (same_name(name, "content-length")) {
        const auto size = whole_number<std::size_t>(value);
        body_size = size.value_or(0);
        return size.has_value();
    }
    if (same_name(name, "connection") && same_name(value, "close")) {
        closes = true;
    }
    return !same_name(name, "transfer-encoding");
}

}  // namespace

WireState read_response(std::string_view bytes, WireResponse& response) {
    constexpr std::string_view kVersion = "HTTP/1.1 ";
    constexpr std::size_t kStatusDigits = 3;
    constexpr std::string_view kHeadEnd = "\r\n\r\n";
    const std::size_t end = bytes.find(kHeadEnd);
    if (end == std::string_view::npos) {
        return WireState::Incomplete;
    }
    const std::string_view head = bytes.substr(0, end + 2);
    const std::size_t first_end = head.find("\r\n");
    if (!head.starts_with(kVersion) || first_end < kVersion.size() + kStatusDigits) {
        return WireState::Broken;
    }
    const auto status = whole_number<unsigned>(head.substr(kVersion.size(), kStatusDigits));
    if (!status) {
        return WireState::Broken;
    }
    std::size_t body_size = 0;
    response.closes = false;
    for (std::size_t begin = first_end + 2; begin < head.size();) {
        const std::size_t line_end = head.find("\r\n", begin);
        if (!read_header(head.substr(begin, line_end - begin), body_size, response.closes)) {
            return WireState::Broken;
        }
        begin = line_end + 2;
    }
    response.status = *status;
    response.size = end + kHeadEnd.size() + body_size;
    response.body = bytes.substr(end + kHeadEnd.size(), body_size);
    return bytes.size() >= response.size ? WireState::Complete : WireState::Incomplete;
}

}  // namespace sluice::net
