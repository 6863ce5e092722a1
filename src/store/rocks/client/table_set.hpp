#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/store_state.hpp"
#include "base/result.hpp"

namespace rocksdb {
class CompactionFilterFactory;
class MergeOperator;
}  // namespace rocksdb

namespace sluice::rocks {

class Database;

// How the keys of a table come.
enum class KeyOrder {
    Near,   // A new one is near those before it, so that new files overlap few old ones.
    Mixed,  // In no order: a new file overlaps all the old ones.
};

// A table as its owner wants it; a column family.
struct TableDraft {
    std::string name;  // Of all tables of a folder only one has it.
    KeyOrder keys = KeyOrder::Near;
    // A batch brings its rows in the order of their keys, and no batch removes a range of them.
    bool sorted_batches = false;
    std::shared_ptr<rocksdb::CompactionFilterFactory> filter{};  // Rows that may go when files are sorted.
    std::shared_ptr<rocksdb::MergeOperator> merge{};             // What a merged row becomes.
    std::optional<std::chrono::seconds> sorted_every{};          // Each file is, at the latest.
};

// Tables that belong together, in a folder that may hold other sets too. A set knows nothing of the others.
class TableSet {
public:
    virtual ~TableSet() = default;

    // Asked at every opening, and the same each time.
    [[nodiscard]] virtual std::vector<TableDraft> tables() const = 0;

    // The folder was opened, the first time or again, and nobody else has it yet: the time to read what must
    // be known from the start, and to forget what was known of the opening before. An error closes it again.
    virtual Result<void, StoreError> opened(const Database& database) = 0;
};

// Whoever opens a folder names every set that this version of Sluice knows, used or not: see ADR 24.
using TableSets = std::vector<std::shared_ptr<TableSet>>;

}  // namespace sluice::rocks
