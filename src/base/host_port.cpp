#include "base/host_port.hpp"

#include <algorithm>
#include <charconv>

namespace sluice {
namespace {

bool is_name_byte(char byte) {
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
           byte == '.' || byte == '-' || byte == '_';
}

bool is_v6_byte(char byte) { return is_name_byte(byte) || byte == ':'; }

}  // namespace

std::string HostPort::text() const {
    const bool v6 = host.find(':') != std::string::npos;
    return (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

Result<HostPort, HostPortFault> parse_host_port(std::string_view text) {
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos) {
        return Unexpected{HostPortFault::NoPort};
    }
    std::string_view host = text.substr(0, colon);
    const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
    if (bracketed) {
        host = host.substr(1, host.size() - 2);
    }
    if (host.empty() || !std::ranges::all_of(host, bracketed ? is_v6_byte : is_name_byte)) {
        return Unexpected{HostPortFault::BadHost};
    }
    const std::string_view digits = text.substr(colon + 1);
    std::uint16_t port = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
    if (digits.empty() || error != std::errc{} || end != digits.data() + digits.size()) {
        return Unexpected{HostPortFault::BadPort};
    }
    return HostPort{std::string{host}, port};
}

}  // namespace sluice
