#pragma once

#include <array>
#include <memory>

#include "store/rocks/forgetting.hpp"
#include "store/rocks/high_water.hpp"
#include "store/rocks/rocks_slot_tables.hpp"

namespace rocksdb {
class ColumnFamilyHandle;
class DB;
class Env;
class SstFileManager;
class WriteBatch;
class Status;
}  // namespace rocksdb

namespace sluice::rocks {

// The rows of table Meta that are neither configs nor pools.
inline constexpr const char* kFormatKey = "format";
inline constexpr const char* kHorizonKey = "horizon";

// The tables of a slot database, each a column family.
enum class Table : std::size_t { Meta, Slots, Past, Counts };
inline constexpr std::size_t kTables = 4;

// For a folder that lost something.
inline constexpr const char* kLossAdvice =
    "Restore the folder from a backup; or keep a copy of it and run 'sluice doctor --accept-loss' to go on "
    "without what is lost: events whose slots are lost get other times when they are asked for again.";

// An open slot database. Closing is destruction; all that was written is then durable.
class Database {
public:
    static Result<std::shared_ptr<Database>, StoreError> open(const RocksPlace& place);
    ~Database();
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;

    [[nodiscard]] rocksdb::DB& db() const { return *db_; }
    [[nodiscard]] rocksdb::ColumnFamilyHandle* table(Table table) const {
        return handles_[static_cast<std::size_t>(table)];
    }

    // All or nothing, durable when it returns.
    rocksdb::Status write(rocksdb::WriteBatch& batch);
    [[nodiscard]] Instant horizon() const { return horizon_->get(); }
    // REQUIRES: written durably.
    void set_horizon(Instant horizon) { horizon_->set(horizon); }
    // Bytes of files that are to be written yet for rows which stand in the log and in memory only.
    [[nodiscard]] std::uint64_t unsorted() const;
    // Files are merged only as far as the new ones fit into `free` bytes beside the old, with `kept` of these
    // left. To be told again when that changes.
    void allow_merges(std::uint64_t free, std::uint64_t kept);
    // Sorts all in that stands in the log only. After a write that failed it does nothing: the log keeps it
    // all.
    void empty_log();

private:
    Database() = default;
    Result<void, StoreError> check_format(const RocksPlace& place);
    Result<void, StoreError> read_horizon();
    // Makes a new database Sluice's own.
    Result<void, StoreError> write_format(const RocksPlace& place);
    // Compares with how far it had come when somebody was last answered.
    Result<void, StoreError> check_reach(const RocksPlace& place, std::optional<std::uint64_t> answered);

    std::shared_ptr<Horizon> horizon_ = std::make_shared<Horizon>();
    std::shared_ptr<rocksdb::SstFileManager> files_;
    std::unique_ptr<rocksdb::DB> db_;
    std::array<rocksdb::ColumnFamilyHandle*, kTables> handles_{};
    std::optional<HighWater> high_water_;
    bool failed_ = false;  // A write did.
};

// Never null.
rocksdb::Env* env_of(const RocksPlace& place);

StoreError to_error(const char* action, const rocksdb::Status& status);

}  // namespace sluice::rocks
