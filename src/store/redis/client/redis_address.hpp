#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/host_port.hpp"
#include "base/result.hpp"

namespace sluice::redis {

using Endpoint = HostPort;

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
