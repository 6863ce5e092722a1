#include "main/gateway_store_choice.hpp"

#include "app/gateway/gateway_ledger.hpp"
#include "store/postgres/gateway/postgres_gateway_store.hpp"

namespace sluice {
namespace {

// One goes on while the other waits for the disk, or for a row that somebody holds.
constexpr std::size_t kGatewayWorkers = 2;
// What a node that is gone has left is sent so much later than its claim ends, at most.
constexpr std::chrono::seconds kOutboxLooks{5};

}  // namespace

Result<ChosenGatewayStore, std::string> choose_gateway_store(const PartWorld& world) {
    ChosenGatewayStore chosen;
    if (world.settings.store != StoreKind::Postgres) {
        chosen.store = make_gateway_ledger(std::move(world.slots.gateway), {world.clock, world.log});
        return chosen;
    }
    auto opened = open_postgres_gateway_store(world.postgres, {}, {world.clock, world.log});
    if (!opened) {
        return Unexpected{opened.error()};
    }
    chosen.store = std::move(*opened);
    chosen.workers = kGatewayWorkers;
    chosen.look_every = kOutboxLooks;
    return chosen;
}

}  // namespace sluice
