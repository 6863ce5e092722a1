#pragma once

#include <functional>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "app/slots/slot_tables.hpp"
#include "core/slots/occupancy.hpp"

namespace sluice {

// Where the counts of one pool are read from.
using CountSource = std::function<Result<void, StoreError>(WindowRange, const SlotTables::CountSink&)>;
// Where the cells of its windows are.
using CellSource = std::function<Result<std::optional<WindowCells>, StoreError>(WindowIndex)>;

// The counts of one pool: in memory what was touched, in the source what is durable. Chunks of windows are
// read when they are first asked for, so that starting up costs nothing.
// Thread safety: none.
class PoolWindows final : public WindowCounts {
public:
    // Windows before `first_open` are closed: they count as full, and nothing in them is counted any more.
    // Without a source of cells the pool has no stratified windows.
    explicit PoolWindows(CountSource source, CellSource cells = {}, WindowIndex first_open = 0)
        : source_{std::move(source)}, cell_source_{std::move(cells)}, first_open_{first_open} {}

    [[nodiscard]] bool is_open(WindowIndex window) const { return window >= first_open_; }

    Places held(WindowIndex window) override;
    std::optional<WindowIndex> earliest_holding_at_most(WindowRange range, Places held_max) override;
    std::optional<WindowCells> cells(WindowIndex window, Places count) override;

    // Takes what the placement says, under this policy.
    void take(const SlotPolicy& policy, const Placement& placement, Places weight);
    // Gives back the places of an event that is scheduled at this offset of the window.
    void give_back(WindowIndex window, Places places, Duration window_size, Duration offset);

    [[nodiscard]] WindowContent content(WindowIndex window);
    // Whatever was taken or given back since content() told it.
    void put_back(WindowIndex window, WindowContent content);

    // Takes another's word for what a window holds.
    void set(WindowIndex window, Places places);

    // What failed while reading; the counts are then not to be trusted.
    [[nodiscard]] const std::optional<StoreError>& failure() const { return failure_; }

    // What was read from the source so far.
    [[nodiscard]] std::vector<WindowRange> loaded() const;

    // Cells are read again when they are needed. REQUIRES: all that was taken or given back is committed.
    void forget_cells() { cells_.clear(); }

    // What the memory taken is proportional to.
    [[nodiscard]] std::size_t entries() const { return occupancy_.nodes() + loaded_.size(); }

private:
    // True when the chunk of the window had to be read.
    bool load(WindowIndex window);
    std::optional<WindowCells>& cells_of(WindowIndex window);

    CountSource source_;
    CellSource cell_source_;
    WindowIndex first_open_;
    Occupancy occupancy_;
    std::unordered_set<WindowIndex> loaded_;  // Numbers of chunks.
    // Of the windows that were touched: nothing where events lie without cells.
    std::unordered_map<WindowIndex, std::optional<WindowCells>> cells_;
    std::optional<StoreError> failure_;
};

}  // namespace sluice
