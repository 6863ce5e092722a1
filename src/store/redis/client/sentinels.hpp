#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <vector>

#include "store/redis/client/greeting.hpp"

namespace sluice::redis {

// The sentinels of one master. Connections to them are kept; one that does not answer is left alone for a
// second.
// Thread safety: all of it.
class Sentinels {
public:
    Sentinels(const RedisAddress& address, const Greeting& greeting);

    // The master in the newest configuration that any of them knows: after a failover some have heard of it
    // and some have not. While one leads a failover, the replica that it promotes counts as soon as that says
    // of itself that it is a master: the sentinel notices up to a second later, and until its configuration
    // is there another second goes by. Fails if none of them knows one.
    Result<Endpoint, std::string> master();
    // Whether one of them was in a failover when it was last asked.
    [[nodiscard]] bool in_failover() const { return in_failover_.load(std::memory_order_relaxed); }

private:
    struct Line {
        Endpoint sentinel;
        std::unique_ptr<Connection> connection{};
        std::chrono::steady_clock::time_point retry_at{};
    };
    struct Word {
        Endpoint master;
        std::int64_t epoch;
        bool ahead;  // It names another than its configuration has: a failover is under way.

        [[nodiscard]] bool newer_than(const Word& other) const {
            return epoch != other.epoch ? epoch > other.epoch : ahead && !other.ahead;
        }
    };

    // With mutex_ held, like all below.
    Result<Word, std::string> ask(Line& line);
    // The word that is ahead of the configuration, while this sentinel leads a failover.
    std::optional<Endpoint> promoted_by(Line& line);
    std::optional<Endpoint> named_by(Line& line);
    std::optional<Reply> ask(Line& line, const char* what);
    Result<std::unique_ptr<Connection>, std::string> connect(const Endpoint& sentinel) const;

    std::atomic<bool> in_failover_ = false;  // Relaxed: a hint.
    const std::string name_;
    const Greeting greeting_;
    std::mutex mutex_;
    std::vector<Line> lines_;  // Guarded by mutex_.
};

}  // namespace sluice::redis
