#pragma once

#include <memory>

#include "store/rocks/client/folder.hpp"
#include "store/rocks/client/work_rows.hpp"
#include "store/rocks/work/work_table_set.hpp"

namespace sluice {

// The works in a folder, which lives as long as one of its users does.
// REQUIRES: the folder was opened with this set.
std::unique_ptr<rocks::WorkRows> make_rocks_work_tables(std::shared_ptr<rocks::Folder> folder,
                                                        std::shared_ptr<const rocks::WorkTableSet> set);

}  // namespace sluice
