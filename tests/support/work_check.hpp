#pragma once

#include <string>
#include <vector>

#include "app/slots/slot_tables.hpp"

namespace sluice::test {

// What is wrong with the works in these tables and the slots that they belong to, one sentence each: work
// without its slot or the other way round, work in no lane or in two, work without its order.
std::vector<std::string> wrongs_of_work(SlotTables& tables);

}  // namespace sluice::test
