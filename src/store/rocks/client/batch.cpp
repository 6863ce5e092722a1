#include "store/rocks/client/batch.hpp"

#include <cassert>

#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>

#include "base/bytes.hpp"

namespace sluice::rocks {
namespace {

rocksdb::Slice slice(std::string_view text) { return {text.data(), text.size()}; }

// As its draft says; see TableDraft.
[[maybe_unused]] bool brings_sorted_batches(Database::Table table) {
    rocksdb::ColumnFamilyDescriptor descriptor;
    return table->GetDescriptor(&descriptor).ok() &&
           descriptor.options.memtable_insert_with_hint_prefix_extractor != nullptr;
}

}  // namespace

Batch::Batch(std::shared_ptr<Database> database)
    : database_{std::move(database)},
      rows_{std::make_unique<rocksdb::WriteBatch>()},
      built_{std::make_unique<rocksdb::Status>()} {}

Batch::~Batch() = default;
Batch::Batch(Batch&&) noexcept = default;

void Batch::put(Database::Table table, std::string_view key, std::string_view value) {
    if (built_->ok()) {
        *built_ = rows_->Put(table, slice(key), slice(value));
    }
}

void Batch::merge(Database::Table table, std::string_view key, std::string_view value) {
    if (built_->ok()) {
        *built_ = rows_->Merge(table, slice(key), slice(value));
    }
}

void Batch::remove(Database::Table table, std::string_view key) {
    if (built_->ok()) {
        *built_ = rows_->Delete(table, slice(key));
    }
}

void Batch::remove_range(Database::Table table, std::string_view from, std::string_view end) {
    assert(!brings_sorted_batches(table));
    if (built_->ok()) {
        *built_ = rows_->DeleteRange(table, slice(from), slice(end));
    }
}

Result<void, StoreError> Batch::commit() {
    const bool raises_format = format() != database_->format();
    if (raises_format) {
        put(database_->meta(), kFormatKey, ByteWriter{}.number(format()).bytes());
    }
    if (!built_->ok()) {
        return Unexpected{to_error("cannot build a write", *built_)};
    }
    if (const auto written = database_->write(*rows_); !written.ok()) {
        return Unexpected{to_error("cannot write", written)};
    }
    if (raises_format) {
        database_->set_format(format());
    }
    for (auto& call : when_stored_) {
        call();
    }
    return {};
}

}  // namespace sluice::rocks
