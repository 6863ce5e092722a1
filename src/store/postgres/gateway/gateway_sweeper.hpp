#pragma once

#include "base/repeating.hpp"
#include "store/postgres/client/connection_pool.hpp"

namespace sluice::postgres {

// Removes requests and messages that are older than the gateway remembers them, in small transactions, once a
// minute. Never one that somebody holds. The server's clock decides what is old.
class GatewaySweeper {
public:
    // All of it outlives the sweeper.
    GatewaySweeper(ConnectionSource& pool, Log& log, Runtime& runtime);

private:
    void sweep(const std::stop_token& stop);

    ConnectionSource& pool_;
    Log& log_;
    Repeating rounds_;  // Last: they use all of the above.
};

}  // namespace sluice::postgres
