#pragma once

#include <functional>
#include <memory>
#include <string>

#include "app/slots/slot_ledger.hpp"
#include "main/settings.hpp"
#include "store/postgres/client/connection_pool.hpp"
#include "store/postgres/client/server_lives.hpp"
#include "store/postgres/slots/store_health.hpp"

namespace sluice {

// What all connections to PostgreSQL share. It outlives the stores.
struct PostgresWorld {
    postgres::PoolMetrics& pool_metrics;
    std::shared_ptr<postgres::ServerLives> lives;
};

// The store that the settings name, opened.
struct OpenSlotStore {
    std::unique_ptr<SlotStore> slots;
    std::string described;    // For the line that says the server is ready; no password.
    std::size_t workers = 1;  // How many batches it serves best at once.
    std::function<postgres::PoolFigures()> pool_figures{};      // Empty: it has no connections.
    std::function<std::optional<StoreSpace>()> space{};         // Empty: it is not on a disk of ours.
    std::function<postgres::HealthFigures()> health_figures{};  // Empty as well.
};

// Fails with one sentence. Everything passed outlives the store.
Result<OpenSlotStore, std::string> open_slot_store(const Settings& settings, LedgerWorld world,
                                                   const PostgresWorld& shared);

}  // namespace sluice
