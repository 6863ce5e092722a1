#pragma once

#include <functional>
#include <memory>

#include "app/limits/limit_service.hpp"
#include "app/limits/moment_clock.hpp"
#include "main/settings.hpp"
#include "store/memory/memory_limit_store.hpp"

namespace sluice {

// The store of limits that the settings name, and what goes with it.
struct ChosenLimitStore {
    std::unique_ptr<MomentClock> clock;  // The stores below read it.
    std::unique_ptr<LimitStore> store;
    std::unique_ptr<LimitStore> local;  // Decides for `local` plans while the store fails.
    StoreCalls calls = StoreCalls::Direct;
    std::function<MemoryLimitFigures()> figures{};  // Empty: it keeps no keys in memory.
};

// Fails with one sentence. For now every setting names the memory store: no other is built.
Result<ChosenLimitStore, std::string> choose_limit_store(const Settings& settings);

}  // namespace sluice
