#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/log.hpp"
#include "base/result.hpp"
#include "store/postgres/client/failure.hpp"

namespace sluice::postgres {

// A session as its server knows it: the process, and when it began, because numbers of processes come again.
struct SessionKey {
    std::int64_t pid = 0;
    std::int64_t began_us = 0;
};

// Which server, and in which of its lives: each promotion begins a new timeline.
struct ServerLife {
    std::string system;  // The system identifier, which a primary and its standbys share.
    std::int64_t timeline = 0;
};

struct ServerFigures {
    std::int64_t timeline = 0;         // The newest that was seen; 0: none yet.
    std::uint64_t strays_refused = 0;  // Connections to a server on an older one.
    std::uint64_t sessions_ended = 0;  // Those that were left on a server, and then ended.
    bool stray_lately = false;         // One was met within kLately.
};

// What the connections of a process know together about their server.
//
// An old primary that comes back after a failover must not be written to: what it takes is lost, and windows
// fill up twice. So the newest timeline that any connection has met is the only one that counts.
//
// A connection that was given up, because its server was silent, may live on at the server. Sessions left
// like that are noted here, and the next connection ends them.
// Thread safety: all of it.
class ServerLives {
public:
    // How long after it was met a stray server counts as there.
    static constexpr std::chrono::seconds kLately{60};

    explicit ServerLives(Log& log) : log_{log} {}

    // Whether a server with this address may be used. Another system, or an older timeline than the newest,
    // is refused with kStrayServer. A newer one makes every connection to the older outlived.
    Result<void, Failure> admit(const std::string& address, const ServerLife& life);
    // A server that does not tell its timeline is used, and the log says once that nobody watches it.
    void admit_unknown(const std::string& address, const Failure& reason);

    // A newer timeline than this one was seen.
    [[nodiscard]] bool outlived(std::int64_t timeline) const {
        return timeline < newest_.load(std::memory_order_acquire);
    }

    void abandon(SessionKey session);
    [[nodiscard]] std::size_t abandoned() const;
    // For the connection that is about to end them.
    std::vector<SessionKey> take_abandoned();
    void ended(std::size_t sessions);

    [[nodiscard]] ServerFigures figures() const;

private:
    [[nodiscard]] bool stray_lately() const;  // With mutex_ held.
    Failure refuse(std::string sentence);     // With mutex_ held.

    Log& log_;
    mutable std::mutex mutex_;
    std::optional<ServerLife> life_;     // Guarded by mutex_, like all below.
    std::vector<SessionKey> abandoned_;  // At most kAbandonedMax.
    ServerFigures figures_;
    std::optional<std::chrono::steady_clock::time_point> stray_at_;  // When one was last met.
    bool unwatched_said_ = false;
    std::atomic<std::int64_t> newest_ = 0;  // The timeline of life_; written under mutex_.
};

}  // namespace sluice::postgres
