#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "base/backoff.hpp"
#include "base/log.hpp"
#include "store/postgres/client/connection.hpp"

namespace sluice::postgres {

// How long a call may wait for a connection.
inline constexpr std::chrono::milliseconds kConnectionPatience{2000};

struct PoolSettings {
    ConnectSettings connect;
    std::size_t min = 5;   // Kept open, also without work.
    std::size_t max = 30;  // At least 1 and `min`.
    // Connections above the minimum are closed when nobody wanted them for this long.
    std::chrono::milliseconds idle_max = std::chrono::minutes{1};
};

// The same settings, with a ServerLives if they have none yet.
PoolSettings watched(PoolSettings settings, Log& log);

// A pool's connections and callers, at the moment of asking.
struct PoolFigures {
    std::size_t in_use = 0;
    std::size_t idle = 0;
    std::size_t waiting = 0;
};

// What operators measure of a pool, beside its figures.
// Thread safety: any thread; never blocks for long.
class PoolMetrics {
public:
    virtual ~PoolMetrics() = default;
    // How long a call of take() took, whether it got a connection or not.
    virtual void waited(std::chrono::nanoseconds duration) = 0;
};

class ConnectionPool;

// A connection for one user at a time; goes back to its pool by itself. What was queued is then forgotten and
// an open transaction rolled back.
class Lease {
public:
    Lease(Lease&& other) noexcept = default;
    Lease& operator=(Lease&&) = delete;
    ~Lease();

    Connection& operator*() const { return *connection_; }
    Connection* operator->() const { return connection_.get(); }

private:
    friend class ConnectionPool;
    Lease(ConnectionPool& pool, std::unique_ptr<Connection> connection);

    ConnectionPool* pool_;
    std::unique_ptr<Connection> connection_;  // Empty after a move.
};

// Connections to one server, at most `max`, opened when somebody waits for one. Only the pool's own thread
// connects: however many callers want a dead server, it is asked by one, with backoff and jitter, and callers
// never wait longer than they are willing to. Connections that the server has closed are sorted out before
// anybody gets them.
// Thread safety: all of it.
class ConnectionPool {
public:
    using Clock = std::chrono::steady_clock;

    // How long an answer of the server counts as proof that it is there.
    static constexpr std::chrono::milliseconds kLately{3000};

    // Starts connecting; does not wait for it.
    ConnectionPool(PoolSettings settings, Log& log, PoolMetrics& metrics);
    // May take as long as an attempt to connect.
    // REQUIRES: every lease is back, and nobody waits.
    ~ConnectionPool();

    // Waits until a connection is free or can be opened, at most until `deadline`. Fails at once while the
    // server cannot be reached and no connection is open, with connection_lost; at the deadline with kNoneFree.
    // A wait of more than a second is logged as a WARN.
    Result<Lease, Failure> take(Clock::time_point deadline);

    // Whether the server answered within kLately. It is asked every second when nobody else does.
    [[nodiscard]] bool ready() const;

    [[nodiscard]] PoolFigures figures() const;

private:
    friend class Lease;
    enum class Task { Open, Close, Probe, Rest };
    struct Idle {
        std::unique_ptr<Connection> connection;
        Clock::time_point since;
    };

    void give_back(std::unique_ptr<Connection> connection);

    Result<std::unique_ptr<Connection>, Failure> wait_for_idle(Clock::time_point deadline);
    void report(Clock::duration waited) const;

    // The pool's own thread.
    void tend(const std::stop_token& stop);
    Task await_task(const std::stop_token& stop);                      // Rest when it was woken for nothing.
    Task next_task(Clock::time_point now) const;                       // With mutex_ held.
    Clock::time_point next_time() const;                               // With mutex_ held.
    std::size_t open_count() const { return idle_.size() + in_use_; }  // With mutex_ held.
    bool above_min() const { return open_count() > settings_.min; }    // With mutex_ held.
    bool may_open() const;                                             // With mutex_ held.
    void sort_out();  // Closes what is idle and of no further use.
    void open_one();
    void close_oldest();
    void probe();
    // What to do about a connection that was lost; the caller destroys the result without the lock.
    [[nodiscard]] std::deque<Idle> lost_one();  // With mutex_ held.

    const PoolSettings settings_;
    Log& log_;
    PoolMetrics& metrics_;
    Backoff backoff_;  // The pool's own thread only.

    mutable std::mutex mutex_;
    std::condition_variable freed_;          // Callers wait: a connection is idle, or there is no hope.
    std::condition_variable_any disturbed_;  // The pool's own thread waits: there may be work.
    std::deque<Idle> idle_;                  // Guarded by mutex_. The latest used at the back.
    std::size_t in_use_ = 0;                 // Guarded by mutex_.
    std::size_t waiting_ = 0;                // Guarded by mutex_.
    std::optional<Failure> unreachable_;     // Guarded by mutex_. Why the last attempt to connect failed.
    Clock::time_point retry_at_;             // Guarded by mutex_. No attempt to connect before.
    Clock::time_point answered_at_;          // Guarded by mutex_. When the server last gave a sign of life.
    std::jthread thread_;                    // Last: it uses all of the above.
};

}  // namespace sluice::postgres
