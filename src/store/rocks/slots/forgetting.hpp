#pragma once

#include <memory>

#include "store/rocks/client/horizon.hpp"

namespace rocksdb {
class CompactionFilterFactory;
}

namespace sluice::rocks {

// Drops slots that were scheduled before the horizon when RocksDB sorts their file anyway; not those whose
// work is open.
std::shared_ptr<rocksdb::CompactionFilterFactory> make_forgetting(std::shared_ptr<const Horizon> horizon);

}  // namespace sluice::rocks
