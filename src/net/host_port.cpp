#include "net/host_port.hpp"

#include <array>
#include <memory>

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace sluice::net {
namespace {

bool is_v6(std::string_view host) {
    in6_addr address{};
    return ::inet_pton(AF_INET6, std::string{host}.c_str(), &address) == 1;
}

}  // namespace

Result<HostPort, std::string> parse_host_port(std::string_view text) {
    auto parsed = sluice::parse_host_port(text);
    if (!parsed && parsed.error() == HostPortFault::BadPort) {
        return Unexpected{"'" + std::string{text.substr(text.rfind(':') + 1)} +
                          "' is not a port; ports are 0 to 65535."};
    }
    if (!parsed || (text.starts_with('[') && !is_v6(parsed->host))) {
        return Unexpected{"'" + std::string{text} + "' is not of the form host:port or [address]:port."};
    }
    return std::move(*parsed);
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
