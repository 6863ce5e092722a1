#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/backoff.hpp"
#include "store/redis/connection.hpp"

namespace sluice::redis {

// Connections to one server, or to whatever server is the master. They are opened by a thread of the pool, so
// that callers wait for one no longer than they want. After a failure the next attempt comes later and later,
// up to a second, less a random half; until then callers are told at once.
// Thread safety: all of it.
class ConnectionPool {
public:
    using Opener = std::function<Result<std::unique_ptr<Connection>, std::string>()>;

    // REQUIRES: max >= 1.
    ConnectionPool(Opener opener, std::size_t max);
    // REQUIRES: every connection was given back.
    ~ConnectionPool();
    ConnectionPool(const ConnectionPool&) = delete;
    ConnectionPool& operator=(const ConnectionPool&) = delete;

    // Opens a first connection here and now; why that failed.
    Result<void, std::string> open_first();

    // Null: none became free in time, or the server cannot be reached.
    std::unique_ptr<Connection> take(Deadline deadline);
    // Takes back what take() gave; null, or one that is over, is a lost connection.
    void give_back(std::unique_ptr<Connection> connection);
    // Closes those that nobody uses: they lead to the wrong server.
    void drop_idle();
    // The same for those that lead to another server than this.
    void keep_only(const Endpoint& server);

private:
    using Clock = std::chrono::steady_clock;

    void tend(const std::stop_token& stop);
    [[nodiscard]] bool wants_one() const;  // With mutex_ held.
    void open_one();

    const Opener opener_;
    const std::size_t max_;
    mutable std::mutex mutex_;
    std::condition_variable_any wanted_;
    std::condition_variable freed_;
    std::vector<std::unique_ptr<Connection>> idle_;  // Guarded by mutex_, like all below.
    std::size_t open_ = 0;                           // Idle and in use.
    std::size_t waiting_ = 0;
    bool unreachable_ = false;  // The last attempt to open one failed.
    bool was_open_ = false;
    Clock::time_point retry_at_{};
    Backoff backoff_;
    std::jthread thread_;
};

}  // namespace sluice::redis
