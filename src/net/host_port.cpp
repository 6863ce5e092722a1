#include "net/host_port.hpp"

#include <array>
#include <charconv>
#include <memory>

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace sluice::net {
namespace {

Unexpected<std::string> no_host_port(std::string_view text) {
    return Unexpected{"'" + std::string{text} + "' is not of the form host:port or [address]:port."};
}

Result<std::uint16_t, std::string> parse_port(std::string_view text) {
    std::uint16_t port = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size()) {
        return Unexpected{"'" + std::string{text} + "' is not a port; ports are 0 to 65535."};
    }
    return port;
}

bool is_host_byte(char byte) {
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
           byte == '.' || byte == '-' || byte == '_';
}

bool is_host_name(std::string_view host) {
    for (const char byte : host) {
        if (!is_host_byte(byte)) {
            return false;
        }
    }
    return !host.empty();
}

bool is_v6(std::string_view host) {
    in6_addr address{};
    return ::inet_pton(AF_INET6, std::string{host}.c_str(), &address) == 1;
}

}  // namespace

std::string HostPort::text() const {
    const bool v6 = host.find(':') != std::string::npos;
    return (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

Result<HostPort, std::string> parse_host_port(std::string_view text) {
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos) {
        return no_host_port(text);
    }
    std::string_view host = text.substr(0, colon);
    const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
    if (bracketed) {
        host = host.substr(1, host.size() - 2);
    }
    if (bracketed ? !is_v6(host) : !is_host_name(host)) {
        return no_host_port(text);
    }
    const auto port = parse_port(text.substr(colon + 1));
    if (!port) {
        return Unexpected{port.error()};
    }
    return HostPort{std::string{host}, *port};
}

std::string ServerUrl::text() const { return (tls ? "https://" : "http://") + address.text(); }

Result<ServerUrl, std::string> parse_server_url(std::string_view text) {
    constexpr std::string_view kPlain = "http://";
    constexpr std::string_view kTls = "https://";
    const bool tls = text.starts_with(kTls);
    const bool has_scheme = tls || text.starts_with(kPlain);
    std::string_view rest = has_scheme ? text.substr(tls ? kTls.size() : kPlain.size()) : text;
    if (rest.ends_with('/')) {
        rest.remove_suffix(1);
    }
    const bool has_port =
        rest.find(':', rest.starts_with('[') ? rest.find(']') : 0) != std::string_view::npos;
    auto parsed = parse_host_port(std::string{rest} + (has_port || !has_scheme ? "" : tls ? ":443" : ":80"));
    if (!parsed || parsed->port == 0) {
        return Unexpected{"'" + std::string{text} +
                          "' is not an address of the form host:port, http://host:port or "
                          "https://host:port."};
    }
    return ServerUrl{std::move(*parsed), tls};
}

Result<HostPort, std::string> resolve_listener(const HostPort& listener) {
    // Whatever the machine's host file says, nobody expects others to reach "localhost".
    if (listener.host == "localhost") {
        return HostPort{"127.0.0.1", listener.port};
    }
    addrinfo hints{};
    hints.ai_flags = AI_PASSIVE;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* list = nullptr;
    const int failed = ::getaddrinfo(listener.host.c_str(), nullptr, &hints, &list);
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owned{list, &::freeaddrinfo};
    std::array<char, NI_MAXHOST> numeric{};
    if (failed != 0 || ::getnameinfo(list->ai_addr, list->ai_addrlen, numeric.data(), numeric.size(), nullptr,
                                     0, NI_NUMERICHOST) != 0) {
        return Unexpected{"The host '" + listener.host + "' has no address on this machine."};
    }
    return HostPort{numeric.data(), listener.port};
}

bool is_loopback(const HostPort& listener) {
    in_addr v4{};
    if (::inet_pton(AF_INET, listener.host.c_str(), &v4) == 1) {
        return (ntohl(v4.s_addr) >> 24U) == 127;
    }
    in6_addr v6{};
    if (::inet_pton(AF_INET6, listener.host.c_str(), &v6) != 1) {
        return false;
    }
    const bool mapped_loopback = IN6_IS_ADDR_V4MAPPED(&v6) && v6.s6_addr[12] == 127;
    return IN6_IS_ADDR_LOOPBACK(&v6) || mapped_loopback;
}

}  // namespace sluice::net
