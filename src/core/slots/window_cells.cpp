#include "core/slots/window_cells.hpp"

#include <algorithm>
#include <limits>

namespace sluice {
namespace {

Duration start_of(std::int64_t cell, Duration window_size, Places count) {
    return Duration{cell * window_size.count() / count};
}

}  // namespace

Cell cell_of(Duration offset, Duration window_size, Places count) {
    // The last whose start is not behind the offset, see start_of.
    return static_cast<Cell>(((offset.count() + 1) * count - 1) / window_size.count());
}

std::optional<WindowCells> WindowCells::restore(std::vector<Cell> owners) {
    if (owners.empty() || owners.size() > kCellsMax) {
        return std::nullopt;
    }
    WindowCells cells{1};
    cells.owners_ = std::move(owners);
    // Whoever owns a cell owns the one of its own number, too, and none before it.
    for (std::size_t i = 0; i < cells.owners_.size(); ++i) {
        const Cell owner = cells.owners_[i];
        if (owner != kFree && (owner > i || cells.owners_[owner] != owner)) {
            return std::nullopt;
        }
    }
    return cells;
}

WindowCells::Choice WindowCells::choose(Duration window_size, OffsetRange range, Places weight) const {
    Choice choice;
    for (std::size_t i = cell_of(range.earliest, window_size, count()); i < owners_.size(); ++i) {
        if (owners_[i] == kFree) {
            choice.free.push_back(static_cast<Cell>(i));
        }
    }
    const Cell last = cell_of(range.latest, window_size, count());
    int nearest = std::numeric_limits<int>::max();
    // In steps of the weight: events of equal weights then leave no gaps that are too small for another.
    for (std::size_t i = 0; i + weight <= choice.free.size() && choice.free[i] <= last; i += weight) {
        const int reach = choice.free[i + weight - 1] - choice.free[i];
        if (reach < nearest) {
            nearest = reach;
            choice.firsts.clear();
        }
        if (reach == nearest) {
            choice.firsts.push_back(i);
        }
    }
    return choice;
}

bool WindowCells::fits(Duration window_size, OffsetRange range, Places weight) const {
    return !choose(window_size, range, weight).firsts.empty();
}

std::optional<WindowCells::Pick> WindowCells::pick(Duration window_size, OffsetRange range, Places weight,
                                                   Random& random) const {
    const Choice choice = choose(window_size, range, weight);
    if (choice.firsts.empty()) {
        return std::nullopt;
    }
    const auto first =
        choice.free.begin() + static_cast<std::ptrdiff_t>(choice.firsts[random.below(choice.firsts.size())]);
    const Duration earliest = std::max(range.earliest, start_of(*first, window_size, count()));
    const Duration latest = std::min(range.latest, start_of(*first + 1, window_size, count()) - Duration{1});
    const auto choices = static_cast<std::uint64_t>((latest - earliest).count() + 1);
    return Pick{earliest + Duration{static_cast<Duration::rep>(random.below(choices))},
                {first, first + static_cast<std::ptrdiff_t>(weight)}};
}

void WindowCells::take(std::span<const Cell> cells) {
    for (const Cell cell : cells) {
        owners_[cell] = cells.front();
    }
}

void WindowCells::release(Duration window_size, Duration offset) {
    std::ranges::replace(owners_, cell_of(offset, window_size, count()), kFree);
}

}  // namespace sluice
