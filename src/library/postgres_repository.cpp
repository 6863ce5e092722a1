#include "library/store_repository.hpp"
#include "store/postgres/limits/postgres_limit_store.hpp"

namespace sluice {

Result<OwnedStore, std::string> open_postgres_store(const PostgresRepositoryOptions& options) {
    constexpr std::size_t kConnectionsMost = 1'000;
    if (options.pool_size < 1 || options.pool_size > kConnectionsMost) {
        return Unexpected{std::string{"The size of a pool of connections is 1 to 1,000."}};
    }
    postgres::PoolSettings pool;
    pool.connect.dsn = options.dsn;
    pool.min = 1;
    pool.max = options.pool_size;
    PostgresLimitOptions limits;
    limits.key_wait = options.key_wait;
    OwnedStore owned;
    owned.silent = std::make_unique<SilentWorld>();
    const auto care = options.migrate ? postgres::SchemaCare::Migrate : postgres::SchemaCare::Check;
    auto server =
        postgres::Server::open(pool, care, {owned.silent->log, owned.silent->pool, *owned.silent->runtime});
    if (!server) {
        return Unexpected{server.error()};
    }
    auto opened = open_postgres_limit_store(std::move(*server), limits, owned.silent->log);
    if (!opened) {
        return Unexpected{opened.error()};
    }
    owned.store = std::move(*opened);
    return owned;
}

Result<std::unique_ptr<RateLimiterRepository>, std::string> open_postgres_repository(
    const PostgresRepositoryOptions& options) {
    return repository_over(open_postgres_store(options));
}

}  // namespace sluice
