#pragma once

#include <chrono>
#include <mutex>
#include <optional>

#include "base/time.hpp"
#include "store/postgres/client/connection_pool.hpp"

namespace sluice::postgres {

// The clock of the server, whatever this node's own says. It is asked once a second, if anybody wants to
// know; in between it is what the server said and the time that has passed since.
// Thread safety: all of it.
class ServerClock {
public:
    // This node's own clock tells only that it was asleep, or that somebody sets clocks: time to ask again.
    ServerClock(ConnectionSource& pool, const Clock& own) : pool_{pool}, own_{own} {}

    // Never behind the server, and ahead by no more than a question takes, unless its clock was set
    // meanwhile.
    Result<Instant, Failure> now();

private:
    using Steady = std::chrono::steady_clock;

    struct Reading {
        Steady::time_point asked;
        Instant own;
        Instant said;
    };
    [[nodiscard]] std::optional<Instant> known_now();

    ConnectionSource& pool_;
    const Clock& own_;
    std::mutex mutex_;
    std::optional<Reading> last_;  // Guarded by mutex_.
};

}  // namespace sluice::postgres
