#include "app/slots/recut.hpp"

#include <limits>
#include <unordered_map>

#include "app/slots/horizon.hpp"
#include "app/slots/slot_errors.hpp"

namespace sluice {

std::optional<SlotError> count_anew(const Recut& recut, SlotTables& tables, const ConfigBook& book,
                                    SlotChanges& changes) {
    const auto& [from, to, now, horizon] = recut;
    bool in_use = false;
    const auto future = tables.scan_counts(
        from.id, {WindowGrid{from.window_size}.index_of(now), std::numeric_limits<WindowIndex>::max()},
        [&in_use](WindowIndex, Places) { return !(in_use = true); });
    if (!future) {
        return store_unavailable();
    }
    if (in_use) {
        return window_size_in_use(from.name, from.window_size);
    }
    const WindowGrid grid{to.window_size};
    const WindowIndex open = first_open(to, horizon);
    std::unordered_map<WindowIndex, std::uint64_t> counts;
    const auto scanned = tables.scan_slots([&, &pool = from.name](const Slot& slot) {
        const WindowIndex window = grid.index_of(slot.scheduled);
        if (slot.state == SlotState::Assigned && book.version(slot.config_id).terms.pool == pool &&
            window >= open) {
            counts[window] += slot.weight;
        }
    });
    if (!scanned) {
        return store_unavailable();
    }
    for (const auto& [window, places] : counts) {
        if (places > std::numeric_limits<Places>::max()) {
            return recut_overflows();
        }
        changes.counts.push_back({to.id, window, {static_cast<Places>(places)}});
    }
    changes.dropped_pools.push_back(from.id);
    return std::nullopt;
}

}  // namespace sluice
