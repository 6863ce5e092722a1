#pragma once

#include <optional>

#include "base/repeating.hpp"
#include "base/time.hpp"
#include "store/postgres/client/connection_pool.hpp"

namespace sluice::postgres {

// Removes what nobody needs any more, in small transactions: chunks of the frontier that lie behind now (a
// request for a past time provisions its chunk again), and, where a retention is set, windows that ended
// longer ago, together with their slots. An event that was removed is unknown: asked for again, it gets a new
// slot. The server's clock decides what is old.
class Housekeeper {
public:
    Housekeeper(ConnectionSource& pool, std::optional<Duration> retention, Log& log, Runtime& runtime);

private:
    void sweep_frontier(const std::stop_token& stop);
    void forget_old_windows(const std::stop_token& stop);
    // Nothing when it failed, which was logged.
    std::optional<Rows> run(const Statement& statement, Parameters parameters);

    ConnectionSource& pool_;
    const std::optional<Duration> retention_;
    Log& log_;
    Repeating rounds_;  // Last: they use all of the above.
};

}  // namespace sluice::postgres
