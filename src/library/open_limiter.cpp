#include <sluice/open_limiter.hpp>

#include "files/limiter_file.hpp"
#include "library/service_limiter.hpp"

namespace sluice {
namespace {

Result<OwnedStore, std::string> open_store(const LimiterSettings& settings) {
    if (settings.store == "memory") {
        return make_memory_store(settings.limits.keys_max, settings.limits.list_bytes_max);
    }
    if (settings.store.starts_with("postgres")) {
        PostgresRepositoryOptions options;
        options.dsn = settings.store;
        options.migrate = settings.postgres.migrate;
        options.key_wait = key_wait(settings.limits.deadline);
        return open_postgres_store(options);
    }
    RedisRepositoryOptions options;
    options.address = settings.store;
    options.timeout = settings.redis.timeout;
    options.allow_eviction = settings.redis.allow_eviction;
    options.tls_ca_file = settings.redis.tls_ca;
    return open_redis_store(options, settings.limits.deadline);
}

}  // namespace

Result<std::unique_ptr<RateLimiter>, std::string> open_limiter(const std::string& path, MissingPlan missing) {
    const auto settings = read_limiter_file(path);
    if (!settings) {
        return Unexpected{settings.error()};
    }
    auto plans = std::make_unique<PlanBook>();
    if (const auto loaded = plans->load(settings->plans); !loaded) {
        return Unexpected{path + ": " + loaded.error().what + "."};
    }
    auto store = open_store(*settings);
    if (!store) {
        return Unexpected{path + ": " + store.error()};
    }
    LimitServiceOptions options;
    options.calls = settings->store == "memory" ? StoreCalls::Direct : StoreCalls::Blocking;
    options.deadline = settings->limits.deadline;
    options.node.denials.longest = settings->limits.deny_cache;
    options.node.blocks.lease_time = settings->limits.lease_time;
    options.policy.open = {settings->limits.fail_open_time, settings->limits.fail_open_tokens};
    return make_service_limiter(std::move(plans), std::move(*store), options, missing);
}

}  // namespace sluice
