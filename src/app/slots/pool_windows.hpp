#pragma once

#include <functional>
#include <optional>
#include <unordered_set>
#include <vector>

#include "app/slots/slot_tables.hpp"
#include "core/slots/occupancy.hpp"

namespace sluice {

// Where the counts of one pool are read from.
using CountSource = std::function<Result<void, StoreError>(WindowRange, const SlotTables::CountSink&)>;

// The counts of one pool: in memory what was touched, in the source what is durable. Chunks of windows are
// read when they are first asked for, so that starting up costs nothing.
// Thread safety: none.
class PoolWindows final : public WindowCounts {
public:
    // Windows before `first_open` are closed: they count as full, and nothing in them is counted any more.
    explicit PoolWindows(CountSource source, WindowIndex first_open = 0)
        : source_{std::move(source)}, first_open_{first_open} {}

    [[nodiscard]] bool is_open(WindowIndex window) const { return window >= first_open_; }

    Places held(WindowIndex window) override;
    std::optional<WindowIndex> earliest_holding_at_most(WindowRange range, Places held_max) override;

    void add(WindowIndex window, Places places);
    void remove(WindowIndex window, Places places);
    // Takes another's word for what a window holds.
    void set(WindowIndex window, Places places);

    // What failed while reading; the counts are then not to be trusted.
    [[nodiscard]] const std::optional<StoreError>& failure() const { return failure_; }

    // What was read from the source so far.
    [[nodiscard]] std::vector<WindowRange> loaded() const;

    // What the memory taken is proportional to.
    [[nodiscard]] std::size_t entries() const { return occupancy_.nodes() + loaded_.size(); }

private:
    // True when the chunk of the window had to be read.
    bool load(WindowIndex window);

    CountSource source_;
    WindowIndex first_open_;
    Occupancy occupancy_;
    std::unordered_set<WindowIndex> loaded_;  // Numbers of chunks.
    std::optional<StoreError> failure_;
};

}  // namespace sluice
