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

void PoolWindows::add(WindowIndex window, Places places) {
    load(window);
    occupancy_.add(window, places);
}

void PoolWindows::remove(WindowIndex window, Places places) {
    load(window);
    occupancy_.remove(window, places);
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
