#pragma once

#include <memory>

#include "base/log.hpp"

namespace rocksdb {
class Logger;
}

namespace sluice::rocks {

// RocksDB's own log, without the file that it would write: one failed line of that ends the process where
// RocksDB is built with assertions. Warnings and errors go to `log`, the first few of a second; the rest is
// counted in one line. With no log nothing is told. Never fails, never blocks for long.
// `log` outlives every database that has it.
std::shared_ptr<rocksdb::Logger> make_rocks_log(Log* log);

}  // namespace sluice::rocks
