#pragma once

#include <functional>
#include <memory>
#include <string>

#include "app/limits/limit_service.hpp"
#include "app/limits/moment_clock.hpp"
#include "main/slot_store_choice.hpp"
#include "store/memory/memory_limit_store.hpp"
#include "store/postgres/client/server.hpp"

namespace sluice {

// The store of limits that the settings name, and what goes with it.
struct ChosenLimitStore {
    std::unique_ptr<MomentClock> clock{};  // The stores in memory read it.
    std::unique_ptr<LimitStore> store{};
    std::unique_ptr<LimitStore> local{};  // Decides for `local` plans while the store fails.
    StoreCalls calls = StoreCalls::Blocking;
    std::string described{};  // For the line that says the server is ready; no password.
    std::function<MemoryLimitFigures()> figures{};  // Empty: it keeps no keys in memory.
    PlanShelf* shelf = nullptr;  // Null: no other node shares the store. Part of it otherwise.
    // Tells the store which plans are in force. False: it did not answer. Empty: it need not know.
    std::function<bool(const PlanSet&)> publish{};
};

// What surrounds the store, and outlives it.
struct LimitStoreWorld {
    Log& log;
    ServerObserver& servers;
    Runtime& runtime;
    const std::shared_ptr<postgres::Server>& postgres;  // As for slots.
};

// Redis if there is one, else PostgreSQL if slots are there, else memory. Fails with one sentence.
Result<ChosenLimitStore, std::string> choose_limit_store(const Settings& settings,
                                                         const LimitStoreWorld& world);

}  // namespace sluice
