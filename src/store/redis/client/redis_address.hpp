#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace sluice::redis {

struct Endpoint {
    std::string host;  // A name or an address; IPv6 without brackets.
    std::uint16_t port = 0;

    auto operator<=>(const Endpoint&) const = default;
};

std::string text_of(const Endpoint& endpoint);

enum class Deployment : std::uint8_t { Single, Sentinel, Cluster };

// Where Redis is, and as whom to speak to it.
struct RedisAddress {
    Deployment deployment = Deployment::Single;
    std::vector<Endpoint> nodes;  // Sentinel: the sentinels. Cluster: some of its nodes.
    std::string master;           // Sentinel only: the name of the master.
    std::string user;             // Empty: the default user.
    std::string password;         // Empty: none is asked for.
    bool tls = false;
};

// Reads what RedisOptions::address describes. User and password may have percent-encoded bytes; `+tls` after
// sentinel or cluster asks for TLS. An error is one sentence and never shows the password.
Result<RedisAddress, std::string> parse_redis_address(std::string_view text);

}  // namespace sluice::redis
