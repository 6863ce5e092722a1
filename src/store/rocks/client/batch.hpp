#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "base/unique_function.hpp"
#include "store/rocks/client/database.hpp"

namespace sluice::rocks {

// Rows of any sets of tables that are stored together, all of them or none.
// Thread safety: none.
class Batch {
public:
    explicit Batch(std::shared_ptr<Database> database);
    ~Batch();
    Batch(Batch&&) noexcept;
    Batch& operator=(Batch&&) = delete;

    [[nodiscard]] const Database& database() const { return *database_; }

    void put(Database::Table table, std::string_view key, std::string_view value);
    // For a table that has said what a merged row becomes.
    void merge(Database::Table table, std::string_view key, std::string_view value);
    void remove(Database::Table table, std::string_view key);
    // Keys from `from` on that come before `end`.
    void remove_range(Database::Table table, std::string_view from, std::string_view end);

    // For rows that an older Sluice must not meet: with them the folder becomes one that it refuses.
    void need_newest_format() { needs_newest_format_ = true; }
    // Which the folder will have.
    [[nodiscard]] std::uint32_t format() const {
        return needs_newest_format_ ? kFormatVersion : database_->format();
    }

    // Called by commit() once all is durable.
    void when_stored(UniqueFunction<void()> call) { when_stored_.push_back(std::move(call)); }

    // Durable when it returns. After an error the outcome is unknown until the folder is opened again.
    // REQUIRES: called once.
    Result<void, StoreError> commit();

private:
    std::shared_ptr<Database> database_;
    std::unique_ptr<rocksdb::WriteBatch> rows_;
    std::unique_ptr<rocksdb::Status> built_;  // The first that went wrong.
    bool needs_newest_format_ = false;
    std::vector<UniqueFunction<void()>> when_stored_;
};

}  // namespace sluice::rocks
