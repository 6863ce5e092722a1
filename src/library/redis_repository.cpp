#include "library/store_repository.hpp"
#include "store/redis/limits/redis_limit_store.hpp"

namespace sluice {

Result<OwnedStore, std::string> open_redis_store(const RedisRepositoryOptions& options,
                                                 std::chrono::milliseconds patience) {
    RedisOptions redis;
    redis.patience = patience;
    redis.address = options.address;
    redis.timeout = options.timeout;
    redis.allow_eviction = options.allow_eviction;
    redis.tls_ca_file = options.tls_ca_file;
    auto opened = open_redis_limit_store(redis);
    if (!opened) {
        return Unexpected{opened.error()};
    }
    OwnedStore owned;
    owned.store = std::move(*opened);
    return owned;
}

Result<std::unique_ptr<RateLimiterRepository>, std::string> open_redis_repository(
    const RedisRepositoryOptions& options) {
    return repository_over(open_redis_store(options));
}

}  // namespace sluice
