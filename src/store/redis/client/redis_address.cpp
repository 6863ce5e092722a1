#include "store/redis/client/redis_address.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "base/percent.hpp"

namespace sluice::redis {
namespace {

using Failed = Unexpected<std::string>;

struct Scheme {
    std::string_view prefix;
    Deployment deployment;
    bool tls;
};
constexpr std::array kSchemes{
    Scheme{"redis://", Deployment::Single, false},
    Scheme{"rediss://", Deployment::Single, true},
    Scheme{"redis+sentinel://", Deployment::Sentinel, false},
    Scheme{"redis+sentinel+tls://", Deployment::Sentinel, true},
    Scheme{"redis+cluster://", Deployment::Cluster, false},
    Scheme{"redis+cluster+tls://", Deployment::Cluster, true},
};

bool is_name_character(char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-' || c == '_' || c == ':';
}

bool is_name(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), is_name_character);
}

Result<Endpoint, std::string> parse_endpoint(std::string_view text) {
    auto parsed = parse_host_port(text);
    if (parsed && parsed->port != 0) {
        return std::move(*parsed);
    }
    const std::string quoted = "'" + std::string{text} + "'";
    if (parsed || parsed.error() == HostPortFault::BadPort) {
        return Failed{"the port in " + quoted + " is not a number from 1 to 65535"};
    }
    return Failed{parsed.error() == HostPortFault::NoPort
                      ? "a Redis address needs host:port, and " + quoted + " has no port"
                      : quoted + " is not host:port"};
}

// `user:password`, `:password` or `user`, all percent-encoded. False: malformed.
bool parse_identity(std::string_view text, RedisAddress& address) {
    const std::size_t colon = text.find(':');
    const auto user = percent_decode(text.substr(0, colon));
    const auto password = colon == std::string_view::npos ? std::optional<std::string>{""}
                                                          : percent_decode(text.substr(colon + 1));
    if (!user || !password || (!user->empty() && password->empty())) {
        return false;
    }
    address.user = *user;
    address.password = *password;
    return true;
}

Result<void, std::string> parse_nodes(std::string_view text, RedisAddress& address) {
    while (true) {
        const std::size_t comma = text.find(',');
        auto endpoint = parse_endpoint(text.substr(0, comma));
        if (!endpoint) {
            return Failed{endpoint.error()};
        }
        address.nodes.push_back(std::move(*endpoint));
        if (comma == std::string_view::npos) {
            break;
        }
        text.remove_prefix(comma + 1);
    }
    if (address.deployment == Deployment::Single && address.nodes.size() > 1) {
        return Failed{"several Redis servers need redis+cluster:// or redis+sentinel://"};
    }
    return {};
}

// What follows the first slash: the master's name for Sentinel, nothing for others.
Result<void, std::string> parse_path(std::string_view path, RedisAddress& address) {
    if (address.deployment == Deployment::Sentinel) {
        if (!is_name(path)) {
            return Failed{"redis+sentinel:// needs the name of the master behind a slash"};
        }
        address.master = path;
        return {};
    }
    return path.empty() ? Result<void, std::string>{}
                        : Failed{"a Redis address has nothing behind the port: limits live in database 0"};
}

Result<RedisAddress, std::string> parse_rest(std::string_view rest, RedisAddress address) {
    // The last one: a password that was not encoded must not show up as a host.
    const std::size_t at = rest.rfind('@');
    if (at != std::string_view::npos) {
        if (!parse_identity(rest.substr(0, at), address)) {
            return Failed{"before the @ a Redis address has user:password, percent-encoded"};
        }
        rest.remove_prefix(at + 1);
    }
    const std::size_t slash = rest.find('/');
    const std::string_view path = slash == std::string_view::npos ? "" : rest.substr(slash + 1);
    if (auto read = parse_nodes(rest.substr(0, slash), address); !read) {
        return Failed{read.error()};
    }
    if (auto read = parse_path(path, address); !read) {
        return Failed{read.error()};
    }
    return address;
}

}  // namespace

Result<RedisAddress, std::string> parse_redis_address(std::string_view text) {
    for (const Scheme& scheme : kSchemes) {
        if (text.starts_with(scheme.prefix)) {
            RedisAddress address;
            address.deployment = scheme.deployment;
            address.tls = scheme.tls;
            return parse_rest(text.substr(scheme.prefix.size()), std::move(address));
        }
    }
    if (text.find("://") != std::string_view::npos) {
        return Failed{
            "a Redis address begins with redis://, rediss://, redis+sentinel:// or redis+cluster://"};
    }
    if (text.find('@') != std::string_view::npos) {
        return Failed{"a Redis address with a password begins with redis:// or rediss://"};
    }
    auto endpoint = parse_endpoint(text);
    if (!endpoint) {
        return Failed{endpoint.error()};
    }
    RedisAddress address;
    address.nodes.push_back(std::move(*endpoint));
    return address;
}

}  // namespace sluice::redis
