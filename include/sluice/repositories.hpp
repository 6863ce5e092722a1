#pragma once

#include <sluice/rate_limiter_repository.hpp>

namespace sluice {

// fork(): repositories on Redis and on PostgreSQL stay their parent's. In a child every call is Unavailable
// at once, and destroying them is safe; a child opens its own. One in memory is copied as it stands.

struct MemoryRepositoryOptions {
    std::size_t keys_max = 1'000'000;  // Live keys; a new one is denied while there are as many.
    // That sliding windows and leases may take together; what needs more is denied likewise.
    std::size_t list_bytes_max = std::size_t{256} << 20U;
};

// Keeps state as long as the process lives. Throws std::invalid_argument unless 1 <= keys_max <= 2^31, and
// std::bad_alloc if the memory cannot be had.
std::unique_ptr<RateLimiterRepository> make_memory_repository(const MemoryRepositoryOptions& options = {});

struct RedisRepositoryOptions {
    // `host:port`, `redis://user:password@host:port`, `rediss://...` for TLS,
    // `redis+sentinel://host:port,host:port/master`, `redis+cluster://host:port,host:port`.
    std::string address;
    // How long a call may take; then it is Unavailable.
    std::chrono::milliseconds timeout{50};
    // A server that may evict keys forgets limits that are still running.
    bool allow_eviction = false;
    // Over TLS: whom to believe. Empty: the system's authorities.
    std::string tls_ca_file{};
};

// State in Redis 7, shared by all that use the same one. Fails with one sentence, without the password, if it
// cannot be reached or may evict keys. Afterwards connections that are lost are made again by themselves.
Result<std::unique_ptr<RateLimiterRepository>, std::string> open_redis_repository(
    const RedisRepositoryOptions& options);

struct PostgresRepositoryOptions {
    std::string dsn;      // `postgres://user:password@host/database`, or as libpq takes it.
    bool migrate = true;  // Make or update the schema. False: fail if it is not as needed.
    std::size_t pool_size = 4;
    // How long to wait for a key that another transaction holds; then the call is Contended.
    std::chrono::milliseconds key_wait{100};
};

// State on PostgreSQL 15 or later, shared by all that use the same database, and durable. Fails with one
// sentence if the server cannot be reached, the schema is not as needed, or pool_size is not 1 to 1,000.
Result<std::unique_ptr<RateLimiterRepository>, std::string> open_postgres_repository(
    const PostgresRepositoryOptions& options);

}  // namespace sluice
