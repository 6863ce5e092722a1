#include "main/limit_store_choice.hpp"

#include <random>

#include "store/memory/fast_clock.hpp"
#include "store/postgres/limits/postgres_limit_store.hpp"
#include "store/redis/limits/redis_limit_store.hpp"

namespace sluice {
namespace {

using Failed = Unexpected<std::string>;

std::uint64_t random_seed() {
    std::random_device device;
    return (std::uint64_t{device()} << 32U) | device();
}

Result<void, std::string> open_memory(const Settings& settings, ChosenLimitStore& chosen) {
    auto store = make_memory_limit_store({.keys_max = settings.limits.keys_max,
                                          .seed = random_seed(),
                                          .list_bytes_max = settings.limits.list_bytes_max},
                                         *chosen.clock);
    chosen.figures = [memory = store.get()] { return memory->figures(); };
    chosen.store = std::move(store);
    chosen.calls = StoreCalls::Direct;
    chosen.described = "limits in memory";
    return {};
}

Result<void, std::string> open_redis(const Settings& settings, const LimitStoreWorld& world,
                                     ChosenLimitStore& chosen) {
    RedisOptions options;
    options.observer = &world.servers;
    options.runtime = &world.runtime;
    options.patience = settings.limits.deadline;
    options.address = settings.redis.address;
    options.timeout = settings.redis.timeout;
    options.allow_eviction = settings.redis.allow_eviction;
    options.tls_ca_file = settings.redis.tls_ca;
    auto store = open_redis_limit_store(options);
    if (!store) {
        return Failed{store.error()};
    }
    chosen.store = std::move(*store);
    chosen.described = "limits in Redis" + place_of(settings.redis.address);
    chosen.shelf = dynamic_cast<PlanShelf*>(chosen.store.get());
    return {};
}

Result<void, std::string> open_postgres(const Settings& settings, const LimitStoreWorld& world,
                                        ChosenLimitStore& chosen) {
    PostgresLimitOptions options;
    options.observer = &world.servers;
    options.patience = settings.limits.deadline;
    options.key_wait = key_wait(settings.limits.deadline);
    auto store = open_postgres_limit_store(world.postgres, options, world.log);
    if (!store) {
        return Failed{store.error()};
    }
    PostgresLimitStore* const opened = store->get();
    chosen.shelf = opened;
    chosen.publish = [opened](const PlanSet& plans) {
        std::vector<const Plan*> all;
        for (const auto& booked : plans.all()) {
            all.push_back(&booked->plan);
        }
        return opened->publish_plans(all);
    };
    chosen.store = std::move(*store);
    chosen.described = "limits on PostgreSQL" + place_of(settings.postgres.dsn);
    return {};
}

}  // namespace

Result<ChosenLimitStore, std::string> choose_limit_store(const Settings& settings,
                                                         const LimitStoreWorld& world) {
    ChosenLimitStore chosen;
    chosen.clock = make_fast_clock();
    chosen.local = make_memory_limit_store({.keys_max = kLocalKeysMax, .seed = random_seed()}, *chosen.clock);
    const auto opened = !settings.redis.address.empty()         ? open_redis(settings, world, chosen)
                        : settings.store == StoreKind::Postgres ? open_postgres(settings, world, chosen)
                                                                : open_memory(settings, chosen);
    if (!opened) {
        return Failed{opened.error()};
    }
    return chosen;
}

}  // namespace sluice
