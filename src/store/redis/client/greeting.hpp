#pragma once

#include "store/redis/client/connection.hpp"

namespace sluice::redis {

// How connections to the servers of one store are opened: as whom, and what is asked of a server.
struct Greeting {
    std::string user;
    std::string password;
    TlsIdentity* tls = nullptr;  // Null: no TLS.
    bool allow_eviction = false;
    std::chrono::milliseconds timeout{1000};
};

enum class Wanted : std::uint8_t {
    Anything,  // A sentinel, or a node to ask about a Cluster.
    Limits,    // A node of a Cluster that keeps what it is given: it must not evict.
    Master,    // Whom sentinels name: the same, and at the moment a master.
    Alone,     // A master that no Cluster has a part in.
};

// Connects, gives the password and looks whether the server is what is wanted. An error is one sentence that
// names the server, and never the password.
Result<std::unique_ptr<Connection>, std::string> greet(const Endpoint& endpoint, const Greeting& greeting,
                                                       Wanted wanted);

}  // namespace sluice::redis
