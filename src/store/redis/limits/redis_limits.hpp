#pragma once

#include "store/redis/limits/limit_script.hpp"
#include "store/redis/limits/redis_limit_store.hpp"

namespace sluice::redis {

using OpenedLimits = Result<std::unique_ptr<LimitStore>, std::string>;

// open_redis_limit_store() with another source of time than the server's clock, which must outlive the store.
OpenedLimits open_limits(const RedisOptions& options, const ScriptTime& time);

}  // namespace sluice::redis
