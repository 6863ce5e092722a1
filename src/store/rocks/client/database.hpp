#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "store/rocks/client/high_water.hpp"
#include "store/rocks/client/rocks_place.hpp"
#include "store/rocks/client/table_set.hpp"

namespace rocksdb {
class ColumnFamilyHandle;
class DB;
class Env;
class SstFileManager;
class WriteBatch;
class Status;
}  // namespace rocksdb

namespace sluice::rocks {

// The format of a folder: what a Sluice must know to read it. Version 1 had no horizon; version 2 had neither
// cells behind a count nor spread and past behind a config; up to version 3 rows did not say their own
// version; version 4 had no work, neither rows of it nor marks in slots, and no dispatch in configs;
// version 5 had no gateway. All that they wrote is read as it is.
inline constexpr std::uint32_t kFormatVersion = 6;
inline constexpr const char* kFormatKey = "format";

// For a folder that lost something.
inline constexpr const char* kLossAdvice =
    "Restore the folder from a backup; or keep a copy of it and run 'sluice doctor --accept-loss' to go on "
    "without what is lost: events whose slots are lost get other times when they are asked for again.";

// For a folder that holds something newer.
inline constexpr const char* kNewerAdvice =
    "Use the version of Sluice that wrote the folder, or a newer one.";

// One opening of a folder. Closing is destruction; all that was written is then durable.
// Thread safety: all of it.
class Database {
public:
    using Table = rocksdb::ColumnFamilyHandle*;

    // Makes the folder, and tables that it does not have yet. Fails on tables that are in none of the sets,
    // and then changes nothing.
    static Result<std::shared_ptr<Database>, StoreError> open(const RocksPlace& place, const TableSets& sets);
    ~Database();
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;

    [[nodiscard]] rocksdb::DB& db() const { return *db_; }
    // For the format, and for the few rows of a set that are no table's worth. A set has names of its own.
    [[nodiscard]] Table meta() const { return tables_.front(); }
    // In the order in which the set names them. REQUIRES: the folder was opened with it.
    [[nodiscard]] std::span<const Table> tables_of(const TableSet& set) const;

    // All or nothing, durable when it returns.
    rocksdb::Status write(rocksdb::WriteBatch& batch);

    [[nodiscard]] std::uint32_t format() const { return format_.load(std::memory_order_relaxed); }
    // REQUIRES: written durably.
    void set_format(std::uint32_t format) { format_.store(format, std::memory_order_relaxed); }

    // Bytes of files that are to be written yet for rows which stand in the log and in memory only.
    [[nodiscard]] std::uint64_t unsorted() const;
    // Files are merged only as far as the new ones fit into `free` bytes beside the old, with `kept` of these
    // left. To be told again when that changes.
    void allow_merges(std::uint64_t free, std::uint64_t kept);
    // Sorts all in that stands in the log only. After a write that failed it does nothing: the log keeps it
    // all.
    void empty_log();

private:
    struct SetPlace {
        const TableSet* set;
        std::size_t first;
        std::size_t count;
    };

    Database() = default;
    Result<void, StoreError> open_tables(const RocksPlace& place, const TableSets& sets);
    Result<void, StoreError> check_format(const RocksPlace& place);
    // Makes a new database Sluice's own.
    Result<void, StoreError> write_format(const RocksPlace& place);
    // Compares with how far it had come when somebody was last answered.
    Result<void, StoreError> check_reach(const RocksPlace& place, std::optional<std::uint64_t> answered);

    std::shared_ptr<rocksdb::SstFileManager> files_;
    std::unique_ptr<rocksdb::DB> db_;
    std::vector<Table> tables_;  // The first is of no set.
    std::vector<SetPlace> sets_;
    std::atomic<std::uint32_t> format_ = 0;  // Relaxed: rows of any format can be read at any time.
    std::mutex mutex_;
    std::optional<HighWater> high_water_;  // Guarded by mutex_.
    bool failed_ = false;                  // Guarded by mutex_. A write did.
};

// Never null.
rocksdb::Env* env_of(const RocksPlace& place);

StoreError to_error(const char* action, const rocksdb::Status& status);

}  // namespace sluice::rocks
