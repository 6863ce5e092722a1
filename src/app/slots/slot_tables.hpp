#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "app/dispatch/work_tables.hpp"
#include "app/slots/pool_id.hpp"
#include "app/store_state.hpp"
#include "base/result.hpp"
#include "core/slots/slot.hpp"

namespace sluice {

struct Pool {
    PoolId id;
    PoolName name;
    Duration window_size;
};

// What a window holds.
struct WindowContent {
    Places places = 0;
    std::optional<WindowCells> cells{};  // Of a stratified window.

    bool operator==(const WindowContent&) const = default;
};

struct WindowCount {
    PoolId pool;
    WindowIndex window;
    WindowContent content;  // No places: the row goes.
};

// The counts of a pool's windows before `end` go.
struct CountsBefore {
    PoolId pool;
    WindowIndex end;
};

// Everything that one group of commands changes.
struct SlotChanges {
    std::vector<Slot> slots;  // Replace what was stored for their events. Ascending by event.
    std::vector<Slot> past;   // Appended to their events' history.
    std::vector<WindowCount> counts;
    std::vector<ConfigVersion> configs;
    std::vector<Pool> pools;
    std::vector<PoolId> dropped_pools;  // Their counts go.
    // From then on slots that were scheduled before it, past ones too, are as if they had never been; but for
    // those whose work is open.
    std::optional<Instant> horizon{};
    std::vector<CountsBefore> dropped_counts{};
    WorkChanges work{};

    [[nodiscard]] bool empty() const {
        return slots.empty() && past.empty() && counts.empty() && configs.empty() && pools.empty() &&
               !horizon && work.empty();
    }
};

struct ConfigTables {
    std::vector<ConfigVersion> configs;
    std::vector<Pool> pools;
    Instant horizon{};  // The last that was stored.
};

// The tables below a SlotLedger: plain rows, found by key. Knows no rules.
// Thread safety: reads from any thread; commit() and reopen() from one thread at a time.
class SlotTables {
public:
    virtual ~SlotTables() = default;

    // One answer per event, in order. REQUIRES: ascending and distinct.
    virtual Result<std::vector<std::optional<Slot>>, StoreError> find(
        std::span<const std::string_view> event_ids) = 0;
    virtual Result<std::vector<Slot>, StoreError> past(const EventId& event_id) = 0;  // Oldest first.
    virtual Result<ConfigTables, StoreError> load_configs() = 0;

    // Rows in ascending order until the sink says false.
    using CountSink = std::function<bool(WindowIndex, Places)>;
    virtual Result<void, StoreError> scan_counts(PoolId pool, WindowRange range, const CountSink& sink) = 0;
    // The cells that were last stored with a window's count.
    virtual Result<std::optional<WindowCells>, StoreError> cells(PoolId pool, WindowIndex window) = 0;
    // Every slot, in no particular order.
    virtual Result<void, StoreError> scan_slots(const std::function<void(const Slot&)>& sink) = 0;

    // Where the work of the slots is read; written by commit(). Null: it has no tables here.
    [[nodiscard]] virtual WorkTables* work() { return nullptr; }

    // All or nothing, and durable when it returns. After an error the outcome is unknown until reopen().
    virtual Result<void, StoreError> commit(const SlotChanges& changes) = 0;
    // Starts over from what is durable.
    virtual Result<void, StoreError> reopen() = 0;

    // Reads all that is stored, and checks that it is as it was written.
    virtual Result<void, StoreError> verify() { return {}; }

    // How much room there is now; cheap enough to ask before every commit. Empty: nobody can tell.
    [[nodiscard]] virtual std::optional<StoreSpace> space() const { return std::nullopt; }
    [[nodiscard]] StoreRoom room() const {
        const auto now = space();
        return now ? now->room() : StoreRoom::Enough;
    }
};

}  // namespace sluice
