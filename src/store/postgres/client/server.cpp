#include "store/postgres/client/server.hpp"

#include <random>

#include "store/postgres/client/schema.hpp"
#include "store/postgres/client/server_lives.hpp"

namespace sluice::postgres {
namespace {

// Never 0.
std::int64_t random_node() {
    std::random_device device;
    return static_cast<std::int64_t>((std::uint64_t{device()} << 31U | device()) >> 1U) | 1;
}

}  // namespace

Result<std::shared_ptr<Server>, std::string> Server::open(PoolSettings settings, SchemaCare care,
                                                          const ServerWorld& world) {
    if (!settings.connect.lives) {
        settings.connect.lives = std::make_shared<ServerLives>(world.log);
    }
    if (settings.connect.node == 0) {
        settings.connect.node = random_node();
    }
    Connection::meet_hosts(settings.connect);  // The first that takes writes may be an old primary.
    const auto connection = Connection::open(migration_settings(settings.connect));
    if (!connection) {
        return Unexpected{cannot_connect(connection.error())};
    }
    const auto ready =
        care == SchemaCare::Migrate ? migrate_slots(**connection) : check_slots_migrated(**connection);
    if (!ready) {
        return Unexpected{ready.error().message};
    }
    return std::shared_ptr<Server>{new Server{std::move(settings), world}};
}

Server::Server(PoolSettings settings, const ServerWorld& world)
    : settings_{std::move(settings)},
      runtime_{world.runtime},
      pool_{settings_, world.log, world.metrics},
      survey_{settings_.connect, world.runtime} {}

}  // namespace sluice::postgres
