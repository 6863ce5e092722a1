#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/log.hpp"

namespace rocksdb {
class Env;
}

namespace sluice {

// What to do with a folder that has lost something that was answered.
enum class WhenLost { Refuse, GoOn };

// Where a folder is, and how it is kept.
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
};

}  // namespace sluice
