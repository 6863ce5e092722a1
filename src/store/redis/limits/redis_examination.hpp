#pragma once

#include <vector>

#include "base/time.hpp"
#include "store/redis/limits/redis_limit_store.hpp"

namespace sluice {

// What a server's clock says, beside ours.
struct RedisClock {
    std::string server;  // host:port.
    Duration ahead;      // Of our clock; negative: behind it.
};

// Looks whether limits can live there, and changes nothing. Says what is wrong in one sentence, or what the
// servers' clocks say. Of sentinels none is asked: they have no clock to tell.
Result<std::vector<RedisClock>, std::string> examine_redis(const RedisOptions& options);

}  // namespace sluice
