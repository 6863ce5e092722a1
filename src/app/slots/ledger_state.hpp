#pragma once

#include <map>

#include "app/dispatch/work_book.hpp"
#include "app/slots/config_book.hpp"
#include "app/slots/config_cache.hpp"
#include "app/slots/horizon.hpp"
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
    Instant horizon{};  // What was scheduled before it is forgotten.
    WorkBook works{};
    std::optional<StoreError> unreadable_work{};  // Why a work could not be read while commands ran.

    // Null: no such config.
    ConfigRef active(const ConfigName& name) {
        return cache.get(name, [this](const ConfigName& wanted) { return book.active(wanted); });
    }

    PoolWindows& windows_of(const Pool& pool) {
        if (const auto known = windows.find(pool.id); known != windows.end()) {
            return known->second;
        }
        const auto counts = [this, id = pool.id](WindowRange range, const SlotTables::CountSink& sink) {
            return tables.scan_counts(id, range, sink);
        };
        CellSource cells;
        if (book.has_cells(pool.name)) {
            cells = [this, id = pool.id](WindowIndex window) { return tables.cells(id, window); };
        }
        return windows.try_emplace(pool.id, counts, std::move(cells), first_open(pool, horizon))
            .first->second;
    }

    // Gives memory back by forgetting all counts, when there are many. What is needed is read again.
    // REQUIRES: all that was added or removed is committed.
    void forget_if_large() {
        constexpr std::size_t kEntriesMax = 200'000;  // Nodes and chunks; at most some 100 MB.
        std::size_t entries = 0;
        for (auto& [id, counts] : windows) {
            entries += counts.entries();
            counts.forget_cells();
        }
        if (entries > kEntriesMax) {
            windows.clear();
        }
    }

    // What failed while counts or works were read.
    [[nodiscard]] std::optional<StoreError> failure() const {
        if (unreadable_work) {
            return unreadable_work;
        }
        for (const auto& [id, counts] : windows) {
            if (counts.failure()) {
                return counts.failure();
            }
        }
        return std::nullopt;
    }
};

}  // namespace sluice
