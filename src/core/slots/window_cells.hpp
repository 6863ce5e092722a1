#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/random.hpp"
#include "core/slots/window_grid.hpp"

namespace sluice {

// The number of a cell in its window.
using Cell = std::uint16_t;

// More than this a window is not cut into.
inline constexpr Places kCellsMax = 4096;

// Times in a window, counted from its start. Both ends are included.
struct OffsetRange {
    Duration earliest;
    Duration latest;
};

// A window of a stratified spread: cut into as many cells as its cap, of equal length to the millisecond.
// An event takes one free cell for each of its places, and its time lies in the first of them. So, with
// events of weight 1, a sliding second holds at most one event for each cell that it touches. An event owns
// what it took under the number of its first cell: its time is enough to give all of it back.
// Thread safety: none.
class WindowCells {
public:
    static constexpr Cell kFree = 0xFFFF;

    // All cells are free. REQUIRES: 1 <= count <= kCellsMax.
    explicit WindowCells(Places count) : owners_(count, kFree) {}
    // For each cell its owner, or kFree. Nothing when these cannot be the owners of any window.
    static std::optional<WindowCells> restore(std::vector<Cell> owners);

    [[nodiscard]] Places count() const { return static_cast<Places>(owners_.size()); }
    [[nodiscard]] const std::vector<Cell>& owners() const { return owners_; }

    struct Pick {
        Duration offset;
        std::vector<Cell> cells;  // Ascending; the offset lies in the first.
    };
    // Free cells for an event whose time must lie within the range, and that time: random, but for a weight
    // above 1 the cells are as near to each other as there are. Nothing when too few are free. Takes nothing
    // yet.
    [[nodiscard]] std::optional<Pick> pick(Duration window_size, OffsetRange range, Places weight,
                                           Random& random) const;
    // Whether pick() would find some.
    [[nodiscard]] bool fits(Duration window_size, OffsetRange range, Places weight) const;

    // REQUIRES: free cells, as pick() gave them.
    void take(std::span<const Cell> cells);
    // Gives back what the event with this time has taken.
    void release(Duration window_size, Duration offset);

    bool operator==(const WindowCells&) const = default;

private:
    // Free cells, each the first of `weight` that lie as near as possible; and all that are free from there
    // on.
    struct Choice {
        std::vector<Cell> free;
        std::vector<std::size_t> firsts;  // Positions in `free`.
    };
    [[nodiscard]] Choice choose(Duration window_size, OffsetRange range, Places weight) const;

    std::vector<Cell> owners_;
};

// The cell of a window of `count` cells in which an offset lies: cell i is [i * size / count, (i+1) * size /
// count), rounded down.
Cell cell_of(Duration offset, Duration window_size, Places count);

}  // namespace sluice
