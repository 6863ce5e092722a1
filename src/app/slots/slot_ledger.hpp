#pragma once

#include <memory>

#include "app/slots/slot_observer.hpp"
#include "app/slots/slot_store.hpp"
#include "app/slots/slot_tables.hpp"
#include "base/log.hpp"

namespace sluice {

struct LedgerOptions {
    Duration config_cache_ttl = std::chrono::seconds{5};
    bool strict = false;  // Another body for a known event is refused.
    std::uint64_t seed = 0;
    // Slots are forgotten this long after their time, and their events are unknown then. Absent: never.
    std::optional<Duration> retention{};
};

// What surrounds a ledger. All of it outlives the ledger.
struct LedgerWorld {
    const Clock& clock;
    SlotMetrics& metrics;
    Log& log;
};

// A SlotStore with one writer, over tables that only this process changes. The counters of the windows in use
// are kept in memory; after a write that failed or whose outcome is unknown the ledger assigns nothing,
// starts over from the tables, and never goes on from memory.
std::unique_ptr<SlotStore> make_slot_ledger(std::unique_ptr<SlotTables> tables, LedgerOptions options,
                                            LedgerWorld world);

// What a recount of all slots says about the counters.
struct RecountReport {
    std::uint64_t slots = 0;
    std::uint64_t windows = 0;
    std::vector<std::string> differences;  // One sentence each; the first hundred.
};

// Counts every slot again and compares with the stored counters and with the caps that were ever in force.
Result<RecountReport, StoreError> recount(SlotTables& tables);

}  // namespace sluice
