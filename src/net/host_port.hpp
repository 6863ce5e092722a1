#pragma once

#include <string>
#include <string_view>

#include "base/host_port.hpp"
#include "base/result.hpp"

namespace sluice::net {

using sluice::HostPort;

// Reads `host:port` or `[v6]:port`. Fails with one sentence.
Result<HostPort, std::string> parse_host_port(std::string_view text);

// Where a server is, and how it is spoken with.
struct ServerUrl {
    HostPort address;
    bool tls = false;

    bool operator==(const ServerUrl&) const = default;

    // As https://host:port.
    [[nodiscard]] std::string text() const;
};

// Reads `host:port`, which is plain HTTP, or `http[s]://host[:port][/]`. Fails with one sentence.
Result<ServerUrl, std::string> parse_server_url(std::string_view text);

// Turns the host into a numeric address to listen on. Fails with one sentence when the name has none.
Result<HostPort, std::string> resolve_listener(const HostPort& listener);

// True when only this machine can reach the address. REQUIRES: the host is a numeric address.
bool is_loopback(const HostPort& listener);

}  // namespace sluice::net
