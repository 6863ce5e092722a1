#pragma once

#include <array>
#include <memory>

#include "store/rocks/rocks_slot_tables.hpp"

namespace rocksdb {
class ColumnFamilyHandle;
class DB;
class Env;
class Status;
}  // namespace rocksdb

namespace sluice::rocks {

// The tables of a slot database, each a column family.
enum class Table : std::size_t { Meta, Slots, Past, Counts };
inline constexpr std::size_t kTables = 4;

// An open slot database. Closing is destruction.
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

private:
    Database() = default;
    Result<void, StoreError> check_format(const RocksPlace& place);
    // Makes a new database Sluice's own.
    Result<void, StoreError> write_format(const RocksPlace& place);

    std::unique_ptr<rocksdb::DB> db_;
    std::array<rocksdb::ColumnFamilyHandle*, kTables> handles_{};
};

// Never null.
rocksdb::Env* env_of(const RocksPlace& place);

StoreError to_error(const char* action, const rocksdb::Status& status);

}  // namespace sluice::rocks
