#pragma once

#include <thread>

#include "base/time.hpp"
#include "store/postgres/connection_pool.hpp"

namespace sluice::postgres {

// Removes what nobody needs any more, in small transactions: chunks of the frontier that lie behind now.
// Their counters and slots stay; a request for a past time provisions its chunk again.
class Housekeeper {
public:
    Housekeeper(ConnectionPool& pool, const Clock& clock, Log& log);

private:
    void work(const std::stop_token& stop);
    void sweep();

    ConnectionPool& pool_;
    const Clock& clock_;
    Log& log_;
    std::jthread thread_;  // Last: it uses all of the above.
};

}  // namespace sluice::postgres
