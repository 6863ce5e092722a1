#include <algorithm>
#include <limits>
#include <map>

#include "app/slots/config_book.hpp"
#include "app/slots/horizon.hpp"
#include "app/slots/slot_ledger.hpp"
#include "base/iso8601.hpp"

namespace sluice {
namespace {

constexpr std::size_t kDifferencesMax = 100;

using Counts = std::map<WindowIndex, std::uint64_t>;

void note(RecountReport& report, std::string difference) {
    if (report.differences.size() < kDifferencesMax) {
        report.differences.push_back(std::move(difference));
    }
}

void compare(const Pool& pool, const Counts& counted, const Counts& recounted, RecountReport& report) {
    const WindowGrid grid{pool.window_size};
    const auto held = [](const Counts& counts, WindowIndex window) {
        const auto found = counts.find(window);
        return found == counts.end() ? std::uint64_t{0} : found->second;
    };
    Counts all = counted;
    all.insert(recounted.begin(), recounted.end());
    for (const auto& [window, ignored] : all) {
        const std::uint64_t stored = held(counted, window);
        const std::uint64_t real = held(recounted, window);
        if (stored != real) {
            note(report, "Pool '" + pool.name.text() + "', window " + format_instant(grid.start_of(window)) +
                             ": the counter says " + std::to_string(stored) + ", its slots are " +
                             std::to_string(real) + ".");
        }
    }
    report.windows += recounted.size();
}

// A window that has cells holds as many places as cells are taken.
Result<void, StoreError> check_cells(const Pool& pool, const Counts& counted, SlotTables& tables,
                                     RecountReport& report) {
    for (const auto& [window, places] : counted) {
        const auto cells = tables.cells(pool.id, window);
        if (!cells) {
            return Unexpected{cells.error()};
        }
        if (!*cells) {
            continue;
        }
        const auto& owners = (*cells)->owners();
        const auto taken =
            owners.size() - static_cast<std::size_t>(std::ranges::count(owners, WindowCells::kFree));
        if (taken != places) {
            note(report, "Pool '" + pool.name.text() + "', window " +
                             format_instant(WindowGrid{pool.window_size}.start_of(window)) + ": " +
                             std::to_string(taken) + " cells are taken by " + std::to_string(places) +
                             " places.");
        }
    }
    return {};
}

// The highest cap that any version ever gave a pool: nothing may lie above it. A pool that was once cut in
// windows of another size has none: the past is then counted in windows that it was not planned in.
std::optional<Places> highest_cap(const Pool& pool, const std::vector<ConfigVersion>& versions) {
    Places cap = 0;
    for (const ConfigVersion& version : versions) {
        if (version.terms.pool == pool.name && version.terms.window_size != pool.window_size) {
            return std::nullopt;
        }
        if (version.terms.pool == pool.name) {
            cap = std::max(cap, version.terms.max_per_window);
        }
    }
    return cap;
}

void check_caps(const Pool& pool, const Counts& recounted, Places cap, RecountReport& report) {
    const WindowGrid grid{pool.window_size};
    for (const auto& [window, places] : recounted) {
        if (places > cap) {
            note(report, "Pool '" + pool.name.text() + "', window " + format_instant(grid.start_of(window)) +
                             " holds " + std::to_string(places) + ", above every cap it ever had (" +
                             std::to_string(cap) + ").");
        }
    }
}

}  // namespace

Result<RecountReport, StoreError> recount(SlotTables& tables) {
    const auto configs = tables.load_configs();
    if (!configs) {
        return Unexpected{configs.error()};
    }
    const ConfigBook book{*configs};
    RecountReport report;
    std::map<PoolName, Counts> recounted;
    const auto scanned = tables.scan_slots([&](const Slot& slot) {
        ++report.slots;
        if (!book.knows(slot.config_id)) {
            note(report, "Event '" + slot.event_id.text() + "' names a config that does not exist.");
        } else if (slot.state == SlotState::Assigned) {
            const Pool& pool = book.pool(book.version(slot.config_id).terms.pool);
            const WindowIndex window = WindowGrid{pool.window_size}.index_of(slot.scheduled);
            if (window >= first_open(pool, configs->horizon)) {
                recounted[pool.name][window] += slot.weight;
            }
        }
    });
    if (!scanned) {
        return Unexpected{scanned.error()};
    }
    for (const Pool& pool : configs->pools) {
        Counts counted;
        const auto read = tables.scan_counts(pool.id, {0, std::numeric_limits<WindowIndex>::max()},
                                             [&counted](WindowIndex window, Places places) {
                                                 counted.emplace(window, places);
                                                 return true;
                                             });
        if (!read) {
            return Unexpected{read.error()};
        }
        compare(pool, counted, recounted[pool.name], report);
        if (book.has_cells(pool.name)) {
            if (const auto checked = check_cells(pool, counted, tables, report); !checked) {
                return Unexpected{checked.error()};
            }
        }
        if (const auto cap = highest_cap(pool, configs->configs)) {
            check_caps(pool, recounted[pool.name], *cap, report);
        }
    }
    return report;
}

}  // namespace sluice
