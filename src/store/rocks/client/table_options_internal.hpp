#pragma once

#include <memory>

#include <rocksdb/cache.h>
#include <rocksdb/options.h>

#include "store/rocks/client/rocks_place.hpp"
#include "store/rocks/client/table_set.hpp"

namespace sluice::rocks {

inline constexpr std::size_t kMiB = std::size_t{1} << 20;
inline constexpr std::size_t kWriteBuffer = 32 * kMiB;
inline constexpr double kWriteBufferFilter = 0.02;  // Of a write buffer, for a filter of its own.

// One for all tables of a folder.
std::shared_ptr<rocksdb::Cache> make_cache(const RocksPlace& place);

// Of a table without wishes.
rocksdb::ColumnFamilyOptions table_options(const std::shared_ptr<rocksdb::Cache>& cache);
rocksdb::ColumnFamilyOptions table_options(const TableDraft& draft,
                                           const std::shared_ptr<rocksdb::Cache>& cache);

}  // namespace sluice::rocks
