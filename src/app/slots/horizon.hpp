#pragma once

#include "app/slots/config_book.hpp"
#include "app/slots/slot_tables.hpp"

// How slots are forgotten. The horizon is an instant that only moves on. What was scheduled before it is as
// if it had never been. A window that starts before it is closed: it takes no slots and is counted no more,
// so its counter goes in the very commit in which its slots do. Requests for closed windows go on to the
// first open one.
namespace sluice {

// The first window of the pool that is not closed.
inline WindowIndex first_open(const Pool& pool, Instant horizon) {
    return horizon <= Instant{} ? 0 : WindowGrid{pool.window_size}.index_of(horizon - Duration{1}) + 1;
}

// What to store in order to keep slots for `retention` only. Nothing when the horizon needs not move yet: it
// moves by whole hours.
std::optional<SlotChanges> move_horizon(const ConfigBook& book, Instant horizon, Instant now,
                                        Duration retention);

}  // namespace sluice
