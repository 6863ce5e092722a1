#pragma once

#include <memory>

#include "app/slots/slot_tables.hpp"
#include "store/rocks/client/folder.hpp"
#include "store/rocks/client/work_rows.hpp"
#include "store/rocks/slots/slot_table_set.hpp"

namespace sluice {

// The slots in a folder, which lives as long as one of its users does.
// A commit is one synced write batch: a kill at any instant loses nothing that was committed.
// REQUIRES: the folder was opened with this set. `work`: the tables of works in the same folder, which are
// written in the same batches; null: there are none.
std::unique_ptr<SlotTables> make_rocks_slot_tables(std::shared_ptr<rocks::Folder> folder,
                                                   std::shared_ptr<const rocks::SlotTableSet> set,
                                                   std::unique_ptr<rocks::WorkRows> work = nullptr);

// In a folder that nothing else is in.
Result<std::unique_ptr<SlotTables>, StoreError> open_rocks_slot_tables(const RocksPlace& place);

}  // namespace sluice
