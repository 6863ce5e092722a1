#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <random>
#include <string>

#include "base/backoff.hpp"
#include "base/repeating.hpp"

namespace sluice {

// Hears when a server that a store asks does not answer any more, and when it does again.
// Thread safety: any thread. Must not block for long, nor call the watch.
class ServerObserver {
public:
    virtual ~ServerObserver() = default;
    // `reason` is a sentence without its full stop. It names the server, and says what it said.
    virtual void server_down(const std::string& server, const std::string& reason) = 0;
    virtual void server_up(const std::string& server) = 0;
    // It is not asked any more. Only of one that is down.
    virtual void server_left(const std::string& server) = 0;
};

struct ServerWatchSettings {
    std::string server;  // As people call it: "Redis at 127.0.0.1:6379".
    // How long callers wait for an answer. A server that is silent for less than three times as long is not
    // taken for down.
    std::chrono::milliseconds patience;
    Runtime& runtime;                             // Outlives the watch.
    ServerObserver* observer = nullptr;           // Outlives the watch. Null: nobody hears.
    std::uint64_t seed = std::random_device{}();  // Of the pauses between its questions.
};

// The circuit breaker before one server. Who calls the server tells how each call went. A call that failed is
// no more than a suspicion, for the cause may lie in what was asked: the watch then asks the server itself,
// with a question of its own, until that or a call is answered. Only a server that fails three of these
// questions in a row, or gives no answer to anything for three patiences, is down; then nobody needs to ask
// it, until it has answered the watch. While all is well the watch does nothing.
// Thread safety: all of it.
class ServerWatch {
public:
    // Asks the server to do its work once. Says why it does not, as ServerObserver wants it. Waits for a
    // silent server at least one patience.
    using Probe = std::function<std::optional<std::string>()>;

    // `changed` is called after each change of calm() or down(), under a lock of the watch.
    ServerWatch(ServerWatchSettings settings, Probe probe, std::function<void()> changed = {});
    ~ServerWatch();
    ServerWatch(const ServerWatch&) = delete;
    ServerWatch& operator=(const ServerWatch&) = delete;

    // Who sees the old value for a moment makes one call too many, or takes one lock in vain. Who finds it
    // down, or up again, finds that the observer was told.
    [[nodiscard]] bool down() const { return down_.load(std::memory_order_acquire); }
    // Nothing has failed since the last answer.
    [[nodiscard]] bool calm() const { return calm_.load(std::memory_order_relaxed); }

    // How a call went. What belongs to a single key is an answer.
    void answered() {
        if (!calm()) {
            settle();
        }
    }
    void failed(const std::string& reason);

private:
    void settle();
    // Asks the server, unless all is well, and says when to look again.
    Repeating::Pause look();
    // All with mutex_ held.
    void judge(const std::string& reason);
    void recover();
    void tell_change() const;

    const ServerWatchSettings settings_;
    const Probe probe_;
    const std::function<void()> changed_;
    std::atomic<bool> calm_ = true;
    std::atomic<bool> down_ = false;
    std::mutex mutex_;
    SteadyTime suspected_at_{};  // Guarded by mutex_, like the next. While not calm.
    int probes_failed_ = 0;      // In a row.
    Backoff pauses_;             // Only look() uses them.
    Repeating looks_;            // Last: they use all the rest.
};

}  // namespace sluice
