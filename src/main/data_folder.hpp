#pragma once

#include <memory>
#include <optional>
#include <string>

#include <sys/types.h>

#include "base/result.hpp"
#include "store/rocks/gateway/rocks_gateway_tables.hpp"
#include "store/rocks/slots/rocks_slot_tables.hpp"
#include "store/rocks/work/rocks_work_tables.hpp"

namespace sluice {

// Makes the folder, for its owner only, if it is missing. Fails with one sentence unless it can be written
// to.
Result<void, std::string> prepare_data_folder(const std::string& path);

// The process that holds the folder, if one does.
std::optional<pid_t> holder_of(const std::string& path);

// True when there is a database in it.
bool holds_data(const std::string& path);

// The folder of the embedded store, open, and every set of tables that this version keeps in it.
struct DataFolder {
    std::shared_ptr<rocks::Folder> folder;
    std::shared_ptr<const rocks::SlotTableSet> slots;
    std::shared_ptr<const rocks::WorkTableSet> work;
    std::shared_ptr<const rocks::GatewayTableSet> gateway;

    // The slots in it, with their work.
    [[nodiscard]] std::unique_ptr<SlotTables> tables() const {
        return make_rocks_slot_tables(folder, slots, make_rocks_work_tables(folder, work));
    }
};

// Fails with whole sentences. `retention`: how long slots are kept; absent: for ever.
Result<DataFolder, StoreError> open_data_folder(const RocksPlace& place,
                                                std::optional<Duration> retention = std::nullopt);

}  // namespace sluice
