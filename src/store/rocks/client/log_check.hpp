#pragma once

#include <string>

#include "app/store_state.hpp"
#include "base/result.hpp"

namespace rocksdb {
class Env;
}

namespace sluice::rocks {

// Reads RocksDB's logs before RocksDB does, which takes whatever stands behind a damaged place for never
// written. A write that was cut off is no damage: nobody was answered, nothing stands behind it, and what is
// missing of it is missing from the file's end or in whole sectors. Everything else is.
// Gives the sequence number of the last row in the logs; 0 when there is none. Changes nothing.
Result<std::uint64_t, StoreError> check_logs(rocksdb::Env& env, const std::string& folder);

// Removes logs before `current` that hold nothing: RocksDB keeps them, one more for every start.
// REQUIRES: the folder is held by this process.
void remove_empty_logs(rocksdb::Env& env, const std::string& folder, std::uint64_t current);

}  // namespace sluice::rocks
