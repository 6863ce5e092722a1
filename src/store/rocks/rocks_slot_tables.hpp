#pragma once

#include <memory>
#include <string>

#include "app/slots/slot_tables.hpp"
#include "base/log.hpp"

namespace rocksdb {
class Env;
}

namespace sluice {

// What to do with a folder that has lost something that was answered.
enum class WhenLost { Refuse, GoOn };

struct RocksPlace {
    std::string path;
    rocksdb::Env* env = nullptr;  // The files' way to the disk; null is the usual one. Tests put faults here.
    Log* log = nullptr;           // Where RocksDB's warnings go. Null: nowhere.
    // Free bytes below which no new slot is stored, beside what is stored in the log and memory only and must
    // be sorted in yet. At least 64 MiB. Absent: the larger of that and 2 % of the file system.
    std::optional<std::uint64_t> reserve{};
    WhenLost when_lost = WhenLost::Refuse;
    // Bytes of filters and indexes that are kept in memory; more when the filters alone, 1.75 bytes a slot,
    // take more. Absent: an eighth of the memory, 64 to 512 MiB.
    std::optional<std::uint64_t> cache{};
    // How long slots are kept. Files are sorted anew at least four times in that time, so that what is
    // forgotten leaves the disk. Absent: only when they are sorted anyway.
    std::optional<Duration> retention{};
};

// Slots in a RocksDB folder of their own, made if it is missing. One process at a time may hold the folder.
// A commit is one synced write batch: a kill at any instant loses nothing that was committed.
// Closing leaves nothing in the log only.
// Fails on a folder that another process holds, that a newer Sluice wrote, that is no folder of Sluice's, or
// that is damaged: whose log is, or misses something that was answered. A write that was cut off, and so was
// not answered, is no damage.
Result<std::unique_ptr<SlotTables>, StoreError> open_rocks_slot_tables(const RocksPlace& place);

}  // namespace sluice
