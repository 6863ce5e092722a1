#pragma once

#include "app/slots/config_book.hpp"
#include "app/slots/slot_tables.hpp"

namespace sluice {

// A pool that is to be cut into windows of another size.
struct Recut {
    Pool from;
    Pool to;
    Instant now;
    Instant horizon;  // Nothing is counted in windows that start before it.
};

// Counts the slots of the pool again, in windows of the new size, into `changes`. Gives the reason when that
// is refused: some lie in the future, or the store cannot be read.
std::optional<SlotError> count_anew(const Recut& recut, SlotTables& tables, const ConfigBook& book,
                                    SlotChanges& changes);

}  // namespace sluice
