#pragma once

#include <memory>

#include "store/rocks/gateway/rocks_gateway_tables.hpp"
#include "store/rocks/slots/rocks_slot_tables.hpp"
#include "store/rocks/work/rocks_work_tables.hpp"

namespace sluice::test {

// Slots and their work in a folder of their own, as the daemon keeps them beside the gateway.
inline Result<std::unique_ptr<SlotTables>, StoreError> open_rocks_tables(const RocksPlace& place) {
    const auto slots = std::make_shared<rocks::SlotTableSet>();
    const auto work = std::make_shared<rocks::WorkTableSet>(slots->shared_horizon());
    auto folder = rocks::Folder::open(place, {slots, work, std::make_shared<rocks::GatewayTableSet>()});
    if (!folder) {
        return Unexpected{std::move(folder).error()};
    }
    return make_rocks_slot_tables(*folder, slots, make_rocks_work_tables(*folder, work));
}

}  // namespace sluice::test
