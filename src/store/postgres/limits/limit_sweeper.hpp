#pragma once

#include "base/repeating.hpp"
#include "store/postgres/client/connection_pool.hpp"

namespace sluice::postgres {

// Removes keys that nothing is held against any more, in small transactions: some pages of the table at a
// time, once round it every minute. Only those that have been idle for an hour: a clock that steps back by
// less finds them still there. Never a key that somebody holds.
class LimitSweeper {
public:
    static constexpr std::chrono::hours kGrace{1};

    // All of it outlives the sweeper.
    LimitSweeper(ConnectionSource& pool, Log& log, Runtime& runtime);

private:
    // Once round the table.
    void sweep(const std::stop_token& stop);

    ConnectionSource& pool_;
    Log& log_;
    Repeating rounds_;  // Last: they use all of the above.
};

}  // namespace sluice::postgres
