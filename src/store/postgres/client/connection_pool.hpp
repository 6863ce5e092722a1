#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <list>
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

// What somebody who shares a pool needs of it.
struct ShareWishes {
    // So many at once, or it could stand in its own way.
    std::size_t least = 1;
    // How long its statements wait for locks. Absent: as the pool's settings say.
    std::optional<std::chrono::milliseconds> lock_timeout{};
};

// How a share stands; all guarded by the pool's lock.
struct ShareStanding {
    std::size_t least = 0;
    std::chrono::milliseconds lock_timeout{};
    std::size_t kept = 0;  // So many it can have at any time.
    std::size_t in_use = 0;
    std::size_t waiting = 0;
    std::condition_variable freed{};  // Its callers wait: they may take one, or there is no hope.
};

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
    Lease(ConnectionPool& pool, ShareStanding& share, std::unique_ptr<Connection> connection);

    ConnectionPool* pool_;
    ShareStanding* share_;
    std::unique_ptr<Connection> connection_;  // Empty after a move.
};

// Where connections come from.
// Thread safety: all of it.
class ConnectionSource {
public:
    using Clock = std::chrono::steady_clock;

    virtual ~ConnectionSource() = default;

    // Waits until a connection is free or can be opened, at most until `deadline`. Fails at once while the
    // server cannot be reached and no connection is open, with connection_lost; at the deadline with
    // kNoneFree. A wait of more than a second is logged as a WARN.
    virtual Result<Lease, Failure> take(Clock::time_point deadline) = 0;
};

// Connections to one server, at most `max`, opened when somebody waits for one. Only the pool's own thread
// connects: however many callers want a dead server, it is asked by one, with backoff and jitter, and callers
// never wait longer than they are willing to. Connections that the server has closed are sorted out before
// anybody gets them.
// Several who share a pool (ConnectionShare) cannot starve each other: for each of them a part is kept free,
// an equal one of half the maximum or what it needs at least, and the rest is for whoever comes. A pool that
// is too small for what they need at least is for whoever comes as a whole.
// Thread safety: all of it.
class ConnectionPool final : public ConnectionSource {
public:
    // How long an answer of the server counts as proof that it is there.
    static constexpr std::chrono::milliseconds kLately{3000};

    // Starts connecting; does not wait for it.
    ConnectionPool(PoolSettings settings, Log& log, PoolMetrics& metrics);
    // May take as long as an attempt to connect.
    // REQUIRES: every lease is back, and nobody waits.
    ~ConnectionPool() override;
    ConnectionPool(const ConnectionPool&) = delete;
    ConnectionPool& operator=(const ConnectionPool&) = delete;

    // For those without a share.
    Result<Lease, Failure> take(Clock::time_point deadline) override;

    // Whether the server answered within kLately. It is asked every second when nobody else does.
    [[nodiscard]] bool ready() const;

    [[nodiscard]] PoolFigures figures() const;

private:
    friend class ConnectionShare;
    friend class Lease;
    enum class Task { Open, Close, Probe, Rest };
    struct Idle {
        std::unique_ptr<Connection> connection;
        Clock::time_point since;
    };

    ShareStanding& add_share(ShareWishes wishes);
    void remove_share(ShareStanding& share);
    void divide();  // With mutex_ held. What is kept for each share.

    Result<Lease, Failure> take(ShareStanding& share, Clock::time_point deadline);
    void give_back(ShareStanding& share, std::unique_ptr<Connection> connection);

    Result<std::unique_ptr<Connection>, Failure> wait_for_idle(ShareStanding& share,
                                                               Clock::time_point deadline);
    // Whether one more may be in use by it. With mutex_ held.
    [[nodiscard]] bool may_use(const ShareStanding& share) const;
    // Takes one that is idle and makes it fit the share. Null: it was of no use, and `lock` is held again.
    // REQUIRES: `lock` holds mutex_, one is idle, and the share may use it.
    std::unique_ptr<Connection> take_idle(ShareStanding& share, std::unique_lock<std::mutex>& lock);
    // With mutex_ held. REQUIRES: one is idle.
    std::unique_ptr<Connection> pick_for(const ShareStanding& share);
    // One of each share that waits, or all. With mutex_ held.
    void wake_some();
    void wake_all();
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
    std::condition_variable_any disturbed_;  // The pool's own thread waits: there may be work.
    std::list<ShareStanding> shares_;        // Guarded by mutex_. The first is of those without a share.
    std::deque<Idle> idle_;                  // Guarded by mutex_. The latest used at the back.
    std::size_t in_use_ = 0;                 // Guarded by mutex_. By all shares, and by the pool itself.
    std::size_t waiting_ = 0;                // Guarded by mutex_.
    std::optional<Failure> unreachable_;     // Guarded by mutex_. Why the last attempt to connect failed.
    Clock::time_point retry_at_;             // Guarded by mutex_. No attempt to connect before.
    Clock::time_point answered_at_;          // Guarded by mutex_. When the server last gave a sign of life.
    std::jthread thread_;                    // Last: it uses all of the above.
};

}  // namespace sluice::postgres
