#include "main/slot_store_choice.hpp"

#include <random>

#include "main/data_folder.hpp"
#include "store/memory/memory_gateway_tables.hpp"
#include "store/memory/memory_slot_tables.hpp"
#include "store/postgres/slots/postgres_slot_store.hpp"
#include "store/postgres/work/postgres_work_store.hpp"

namespace sluice {
namespace {

// Enough to keep a server of a few cores busy while each waits for its disk.
constexpr std::size_t kPostgresWorkers = 4;

std::uint64_t random_seed() {
    std::random_device device;
    return (std::uint64_t{device()} << 32U) | device();
}

LedgerOptions ledger_options(const Settings& settings) {
    return {settings.config_cache_ttl, settings.strict, random_seed(), settings.retention};
}

WorkRouter router_of(const Carriers& carriers) {
    return [&carriers](const Target& target) -> Result<Route, std::string> {
        const Carrier* const carrier = carriers.find(target.kind);
        if (carrier == nullptr) {
            return Unexpected{std::string{"This server cannot carry work to a target of this kind."}};
        }
        auto route = carrier->route(target);
        if (!route) {
            return Unexpected{std::move(route).error().detail};
        }
        return std::move(*route);
    };
}

Result<OpenSlotStore, std::string> open_postgres(const Settings& settings, LedgerWorld world,
                                                 const Carriers& carriers,
                                                 const std::shared_ptr<postgres::Server>& server) {
    PostgresSlotOptions options;
    options.ledger = ledger_options(settings);
    options.way = settings.postgres.function_way ? AssignWay::Function : AssignWay::Batch;
    options.batch_max = settings.batch_max;
    options.windows_in_chunk = static_cast<std::int32_t>(settings.postgres.windows_in_chunk);
    options.retention = settings.retention;
    auto works = make_postgres_work_store(server, router_of(carriers), world.log);
    auto opened = open_postgres_slot_store(server, options, world, std::move(works));
    if (!opened) {
        return Unexpected{opened.error()};
    }
    OpenSlotStore result;
    result.health_figures = [&store = **opened] { return store.health_figures(); };
    result.slots = std::move(*opened);
    result.described = "store on PostgreSQL" + place_of(settings.postgres.dsn);
    result.workers = kPostgresWorkers;
    return result;
}

OpenSlotStore open_memory(const Settings& settings, LedgerWorld world) {
    OpenSlotStore opened;
    opened.slots = make_slot_ledger(make_memory_slot_tables(), ledger_options(settings), world);
    opened.gateway = make_memory_gateway_tables();
    opened.described = "store memory";
    return opened;
}

Result<OpenSlotStore, std::string> open_embedded(const Settings& settings, LedgerWorld world) {
    if (const auto prepared = prepare_data_folder(settings.data); !prepared) {
        return Unexpected{prepared.error()};
    }
    const auto data = open_data_folder({.path = settings.data,
                                        .log = &world.log,
                                        .reserve = settings.embedded.reserve,
                                        .cache = settings.embedded.cache},
                                       settings.retention);
    if (!data) {
        const auto& [what, advice] = data.error();
        return Unexpected{advice.empty() ? what : what + " " + advice};
    }
    OpenSlotStore opened;
    opened.space = [&disk = *data->folder] { return disk.space(); };
    opened.slots = make_slot_ledger(data->tables(), ledger_options(settings), world);
    opened.gateway = make_rocks_gateway_tables(data->folder, data->gateway);
    opened.described = "store embedded in " + settings.data;
    return opened;
}

}  // namespace

Result<std::shared_ptr<postgres::Server>, std::string> open_postgres_server(
    const Settings& settings, const postgres::ServerWorld& world) {
    if (settings.store != StoreKind::Postgres) {
        return std::shared_ptr<postgres::Server>{};
    }
    postgres::PoolSettings pool;
    pool.connect.dsn = settings.postgres.dsn;
    pool.min = settings.postgres.pool_min;
    pool.max = settings.postgres.pool_max;
    const auto care = settings.postgres.migrate ? postgres::SchemaCare::Migrate : postgres::SchemaCare::Check;
    return postgres::Server::open(pool, care, world);
}

Result<OpenSlotStore, std::string> open_slot_store(const Settings& settings, SlotStoreWorld world,
                                                   const std::shared_ptr<postgres::Server>& server) {
    auto figures = std::make_unique<SlotFigures>();
    const LedgerWorld ledger{world.clock, *figures, world.log};
    auto opened = [&]() -> Result<OpenSlotStore, std::string> {
        switch (settings.store) {
            case StoreKind::Memory: return open_memory(settings, ledger);
            case StoreKind::Postgres: return open_postgres(settings, ledger, world.carriers, server);
            case StoreKind::Embedded: break;
        }
        return open_embedded(settings, ledger);
    }();
    if (opened) {
        opened->figures = std::move(figures);
    }
    return opened;
}

}  // namespace sluice
