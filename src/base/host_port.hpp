#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace sluice {

struct HostPort {
    std::string host;  // A name or an address, without the brackets of IPv6.
    std::uint16_t port = 0;

    auto operator<=>(const HostPort&) const = default;

    // As people write it: [::1]:8080.
    [[nodiscard]] std::string text() const;
};

enum class HostPortFault : std::uint8_t {
    NoPort,   // There is no colon behind the host.
    BadPort,  // What stands behind it is no number from 0 to 65535.
    BadHost,  // What stands before it is neither a name nor an address in brackets.
};

// Reads `host:port` or `[v6]:port`. Whether the address in brackets is one is not looked at.
Result<HostPort, HostPortFault> parse_host_port(std::string_view text);

}  // namespace sluice
