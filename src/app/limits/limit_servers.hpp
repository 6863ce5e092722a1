#pragma once

#include <mutex>
#include <set>
#include <string>

#include "app/limits/limit_observer.hpp"
#include "app/server_watch.hpp"
#include "base/log.hpp"

namespace sluice {

// Which of the servers that a store of limits asks do not answer. Each change is logged once, with the
// server's address and its reason, and counted.
// Thread safety: all of it.
class LimitServers final : public ServerObserver {
public:
    // Both outlive it.
    LimitServers(Log& log, LimitMetrics& metrics) : log_{log}, metrics_{metrics} {}

    [[nodiscard]] bool all_answer() const;

    void server_down(const std::string& server, const std::string& reason) override;
    void server_up(const std::string& server) override;
    void server_left(const std::string& server) override;

private:
    void rise(const std::string& server, const std::string& line);

    Log& log_;
    LimitMetrics& metrics_;
    mutable std::mutex mutex_;
    std::multiset<std::string> down_;  // Guarded by mutex_.
};

}  // namespace sluice
