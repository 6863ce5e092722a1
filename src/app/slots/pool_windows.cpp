#include "app/slots/pool_windows.hpp"

#include <algorithm>
#include <limits>

namespace sluice {
namespace {

constexpr WindowIndex kChunk = 4096;

WindowRange range_of(WindowIndex chunk) { return {chunk * kChunk, (chunk + 1) * kChunk - 1}; }

}  // namespace

Places PoolWindows::held(WindowIndex window) {
    if (!is_open(window)) {
        return std::numeric_limits<Places>::max();
    }
    load(window);
    return occupancy_.held(window);
}

std::optional<WindowIndex> PoolWindows::earliest_holding_at_most(WindowRange range, Places held_max) {
    range.first = std::max(range.first, first_open_);
    if (range.first > range.last) {
        return std::nullopt;
    }
    // A chunk that was not read looks empty, so the search stops at it: read it and look again.
    for (;;) {
        const auto found = occupancy_.earliest_holding_at_most(range, held_max);
        if (!found || !load(*found) || failure_) {
            return found;
        }
        range.first = *found;
    }
}

std::optional<WindowCells> PoolWindows::cells(WindowIndex window, Places count) {
    if (held(window) == 0) {
        return WindowCells{count};
    }
    const auto& stored = cells_of(window);
    return stored && stored->count() == count ? stored : std::nullopt;
}

void PoolWindows::take(const SlotPolicy& policy, const Placement& placement, Places weight) {
    const WindowIndex window = placement.window;
    if (cell_source_) {
        auto cells = placement.cells.empty() ? std::nullopt : this->cells(window, policy.max_per_window);
        if (cells) {
            cells->take(placement.cells);
        }
        cells_.insert_or_assign(window, std::move(cells));
    }
    load(window);
    occupancy_.add(window, weight);
}

void PoolWindows::give_back(WindowIndex window, Places places, Duration window_size, Duration offset) {
    load(window);
    occupancy_.remove(window, places);
    if (cell_source_) {
        if (auto& cells = cells_of(window)) {
            cells->release(window_size, offset);
        }
    }
}

WindowContent PoolWindows::content(WindowIndex window) {
    return {held(window), cell_source_ ? cells_of(window) : std::nullopt};
}

void PoolWindows::put_back(WindowIndex window, WindowContent content) {
    occupancy_.set(window, content.places);
    if (cell_source_) {
        cells_.insert_or_assign(window, std::move(content.cells));
    }
}

void PoolWindows::set(WindowIndex window, Places places) {
    load(window);
    occupancy_.set(window, places);
}

std::vector<WindowRange> PoolWindows::loaded() const {
    std::vector<WindowRange> ranges;
    ranges.reserve(loaded_.size());
    for (const WindowIndex chunk : loaded_) {
        ranges.push_back(range_of(chunk));
    }
    return ranges;
}

std::optional<WindowCells>& PoolWindows::cells_of(WindowIndex window) {
    const auto [known, is_new] = cells_.try_emplace(window);
    if (is_new && cell_source_ && !failure_) {
        auto stored = cell_source_(window);
        if (stored) {
            known->second = std::move(*stored);
        } else {
            failure_ = stored.error();
        }
    }
    return known->second;
}

bool PoolWindows::load(WindowIndex window) {
    const WindowIndex chunk = window / kChunk;
    if (failure_ || !loaded_.insert(chunk).second) {
        return false;
    }
    const auto scanned = source_(range_of(chunk), [this](WindowIndex index, Places places) {
        occupancy_.set(index, places);
        return true;
    });
    if (!scanned) {
        failure_ = scanned.error();
    }
    return true;
}

}  // namespace sluice
