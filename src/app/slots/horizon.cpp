#include "app/slots/horizon.hpp"

namespace sluice {

std::optional<SlotChanges> move_horizon(const ConfigBook& book, Instant horizon, Instant now,
                                        Duration retention) {
    const Instant wanted = std::chrono::floor<std::chrono::hours>(now - retention);
    if (wanted <= horizon || wanted <= Instant{}) {
        return std::nullopt;
    }
    SlotChanges changes;
    changes.horizon = wanted;
    for (const auto& [name, pool] : book.pools()) {
        changes.dropped_counts.push_back({pool.id, first_open(pool, wanted)});
    }
    return changes;
}

}  // namespace sluice
