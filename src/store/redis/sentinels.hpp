#pragma once

#include <mutex>
#include <vector>

#include "store/redis/greeting.hpp"

namespace sluice::redis {

// The sentinels of one master. Connections to them are kept; one that does not answer is left alone for a
// second.
// Thread safety: all of it.
class Sentinels {
public:
    Sentinels(const RedisAddress& address, const Greeting& greeting);

    // The master in the newest configuration that any of them knows: after a failover some have heard of it
    // and some have not. Fails if none of them knows one.
    Result<Endpoint, std::string> master();

private:
    struct Line {
        Endpoint sentinel;
        std::unique_ptr<Connection> connection{};
        std::chrono::steady_clock::time_point retry_at{};
    };
    struct Word {
        Endpoint master;
        std::int64_t epoch;
    };

    // With mutex_ held, like all below.
    Result<Word, std::string> ask(Line& line);
    Result<std::unique_ptr<Connection>, std::string> connect(const Endpoint& sentinel) const;

    const std::string name_;
    const Greeting greeting_;
    std::mutex mutex_;
    std::vector<Line> lines_;  // Guarded by mutex_.
};

}  // namespace sluice::redis
