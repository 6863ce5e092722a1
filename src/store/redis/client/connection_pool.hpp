#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "app/server_watch.hpp"
#include "store/redis/client/connection.hpp"

namespace sluice::redis {

// Connections to one server, or to whatever server is the master. They are opened by threads of the pool, so
// that callers wait for one no longer than they want. When something fails the pool's watch takes over: it
// opens connections until one can be had, later and later, and while it calls the server down callers are
// told at once.
// Thread safety: all of it.
class ConnectionPool {
public:
    // Opens a connection to a server that does its work, or says why not.
    using Opener = std::function<Result<std::unique_ptr<Connection>, std::string>()>;

    // REQUIRES: max >= 1.
    ConnectionPool(Opener opener, std::size_t max, ServerWatchSettings watched);
    // REQUIRES: every connection was given back.
    ~ConnectionPool();
    ConnectionPool(const ConnectionPool&) = delete;
    ConnectionPool& operator=(const ConnectionPool&) = delete;

    // Opens a first connection here and now; why that failed.
    Result<void, std::string> open_first();

    // Null: none became free in time, or the server is down.
    std::unique_ptr<Connection> take(Deadline deadline);
    // Why take() gave none, as ServerObserver wants it: what the server last said to one who wanted in, if it
    // did.
    [[nodiscard]] std::string why_none_is_free() const;
    // Takes back what take() gave; null, or one that is over, is a lost connection.
    void give_back(std::unique_ptr<Connection> connection);
    // Closes those that nobody uses: they lead to the wrong server.
    void drop_idle();
    // The same for those that lead to another server than this, now and from now on.
    void keep_only(const Endpoint& server);

    // To be told of each call how it went.
    [[nodiscard]] ServerWatch& watch() { return watch_; }
    [[nodiscard]] const std::string& server() const { return server_; }

private:
    void tend(const std::stop_token& stop);
    [[nodiscard]] bool wants_one() const;  // With mutex_ held.
    // Says what went wrong.
    std::optional<std::string> open_one();
    void wake_all();
    // Whether it leads where it should. With mutex_ held.
    [[nodiscard]] bool fits(const Connection& connection) const {
        return !only_ || connection.endpoint() == *only_;
    }

    const Opener opener_;
    const std::size_t max_;
    const std::string server_;
    mutable std::mutex mutex_;
    std::condition_variable_any wanted_;
    std::condition_variable freed_;
    std::vector<std::unique_ptr<Connection>> idle_;  // Guarded by mutex_, like all below.
    std::size_t open_ = 0;                           // Idle and in use.
    std::size_t waiting_ = 0;
    bool was_open_ = false;
    std::string trouble_;             // Of the last attempt to open one; empty: there was none.
    std::optional<Endpoint> only_{};  // Nothing: any server will do.
    ServerWatch watch_;               // Has a thread that uses all above, like the next.
    std::jthread thread_;
};

}  // namespace sluice::redis
