#pragma once

#include <functional>
#include <memory>
#include <string>

#include "app/dispatch/carriers.hpp"
#include "app/gateway/gateway_tables.hpp"
#include "app/slots/slot_ledger.hpp"
#include "main/settings.hpp"
#include "main/slot_figures.hpp"
#include "store/postgres/client/server.hpp"
#include "store/postgres/slots/store_health.hpp"

namespace sluice {

// The PostgreSQL that the settings name, for all stores that are on it; null when they name none. Fails with
// one sentence.
Result<std::shared_ptr<postgres::Server>, std::string> open_postgres_server(
    const Settings& settings, const postgres::ServerWorld& world);

// The store that the settings name, opened, for all parts that use it.
struct OpenSlotStore {
    std::unique_ptr<SlotFigures> figures;  // The store has it from the start.
    std::unique_ptr<SlotStore> slots;
    std::unique_ptr<GatewayTables> gateway{};  // Null: this store keeps none.
    std::string described;                     // For the line that says the server is ready; no password.
    std::size_t workers = 1;                   // How many batches it serves best at once.
    std::function<std::optional<StoreSpace>()> space{};         // Empty: it is not on a disk of ours.
    std::function<postgres::HealthFigures()> health_figures{};  // Empty as well.
};

// What surrounds a store of slots. All of it outlives the store.
struct SlotStoreWorld {
    const Clock& clock;
    Log& log;
    const Carriers& carriers;  // They read where work goes that came by SQL.
};

// Fails with one sentence. The settings outlive the store.
// REQUIRES: `server` is the one that the settings name.
Result<OpenSlotStore, std::string> open_slot_store(const Settings& settings, SlotStoreWorld world,
                                                   const std::shared_ptr<postgres::Server>& server);

}  // namespace sluice
