#pragma once

#include <map>

#include "app/slots/config_book.hpp"
#include "app/slots/config_cache.hpp"
#include "app/slots/pool_windows.hpp"
#include "base/random.hpp"

namespace sluice {

// What a ledger keeps in memory of its tables: nothing that could not be read again.
// Thread safety: none.
struct LedgerState {
    SlotTables& tables;
    ConfigCache cache;
    Random random;
    ConfigBook book{};
    std::map<PoolId, PoolWindows> windows{};

    // Null: no such config.
    ConfigRef active(const ConfigName& name) {
        return cache.get(name, [this](const ConfigName& wanted) { return book.active(wanted); });
    }

    PoolWindows& windows_of(const Pool& pool) {
        return windows.try_emplace(pool.id, pool.id, tables).first->second;
    }

    // What failed while counts were read.
    [[nodiscard]] std::optional<StoreError> failure() const {
        for (const auto& [id, counts] : windows) {
            if (counts.failure()) {
                return counts.failure();
            }
        }
        return std::nullopt;
    }
};

}  // namespace sluice
