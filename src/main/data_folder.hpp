#pragma once

#include <memory>
#include <optional>
#include <string>

#include <sys/types.h>

#include "base/result.hpp"
#include "store/rocks/rocks_slot_tables.hpp"

namespace sluice {

// Makes the folder, for its owner only, if it is missing. Fails with one sentence unless it can be written
// to.
Result<void, std::string> prepare_data_folder(const std::string& path);

// The process that holds the folder, if one does.
std::optional<pid_t> holder_of(const std::string& path);

// True when there is a database in it.
bool holds_data(const std::string& path);

// Opens the slots of the folder. Fails with whole sentences.
Result<std::unique_ptr<SlotTables>, StoreError> open_data_folder(const RocksPlace& place);

}  // namespace sluice
