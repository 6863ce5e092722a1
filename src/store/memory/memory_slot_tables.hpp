#pragma once

#include <memory>

#include "app/slots/slot_tables.hpp"

namespace sluice {

// Slots that live as long as the process: for trying things and for tests. Grows with every slot.
std::unique_ptr<SlotTables> make_memory_slot_tables();

}  // namespace sluice
