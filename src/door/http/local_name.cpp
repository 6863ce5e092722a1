#include "door/http/local_name.hpp"

#include <algorithm>
#include <string>

#include <boost/asio/ip/address.hpp>
#include <boost/beast/core/string.hpp>

namespace sluice::http {
namespace {

namespace ip = boost::asio::ip;

bool is_port(std::string_view text) {
    return text.size() <= 5 &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// What stands before the port, without the brackets of IPv6. Empty when it is no host.
std::string_view host_name(std::string_view authority) {
    const bool bracketed = authority.starts_with('[');
    const auto end = bracketed ? authority.find(']') : authority.find(':');
    const std::string_view name = authority.substr(0, end);
    std::string_view rest = authority.substr(name.size());
    if (bracketed && !rest.empty()) {
        rest.remove_prefix(1);
    }
    const bool whole = rest.empty() || (rest.starts_with(':') && is_port(rest.substr(1)));
    if (!whole || (bracketed && end == std::string_view::npos)) {
        return {};
    }
    return bracketed ? name.substr(1) : name;
}

bool is_loopback(std::string_view text) {
    boost::system::error_code error;
    const auto address = ip::make_address(std::string{text}, error);
    if (error) {
        return false;
    }
    if (address.is_v6() && address.to_v6().is_v4_mapped()) {
        return ip::make_address_v4(ip::v4_mapped, address.to_v6()).is_loopback();
    }
    return address.is_loopback();
}

}  // namespace

bool is_local_host(std::string_view host) {
    const std::string_view name = host_name(host);
    return boost::beast::iequals(name, "localhost") || is_loopback(name);
}

bool is_local_origin(std::string_view origin) {
    for (const std::string_view scheme : {"http://", "https://"}) {
        if (origin.starts_with(scheme)) {
            return is_local_host(origin.substr(scheme.size()));
        }
    }
    return false;
}

}  // namespace sluice::http
