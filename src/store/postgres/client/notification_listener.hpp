#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "base/log.hpp"
#include "store/postgres/client/connection.hpp"

namespace sluice::postgres {

// Hears what other sessions say on channel `sluice`, on a connection of its own that it opens again when it
// is lost. Busy or not, that connection is also the one that the server is examined by.
class NotificationListener {
public:
    struct Ears {
        std::function<void(const std::string& payload)> heard;
        std::function<void()> deaf_before;  // Listening from now on; what was said before was not heard.
        // Asked before the first news and every second, since a frozen server looks like a quiet one. False
        // when the connection is lost.
        std::function<bool(Connection&)> examines;
    };
    NotificationListener(ConnectSettings settings, Log& log, Ears ears);

    // False when the time has passed before it ever listened.
    bool wait_until_listening(std::chrono::milliseconds timeout);

private:
    void work(const std::stop_token& stop);
    void listen(Connection& connection, const std::stop_token& stop);

    const ConnectSettings settings_;
    Log& log_;
    const Ears ears_;
    std::mutex mutex_;
    std::condition_variable_any changed_;
    bool has_listened_ = false;  // Guarded by mutex_.
    std::jthread thread_;        // Last: it uses all of the above.
};

}  // namespace sluice::postgres
