#include "store/rocks/client/database.hpp"

#include <algorithm>
#include <cassert>
#include <filesystem>

#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/sst_file_manager.h>
#include <rocksdb/transaction_log.h>
#include <rocksdb/write_batch.h>

#include "base/bytes.hpp"
#include "store/rocks/client/log_check.hpp"
#include "store/rocks/client/rocks_log.hpp"
#include "store/rocks/client/table_options_internal.hpp"

namespace sluice::rocks {
namespace {

rocksdb::DBOptions database_options(const RocksPlace& place) {
    rocksdb::DBOptions options;
    options.create_if_missing = true;
    options.create_missing_column_families = true;
    options.max_total_wal_size = 128 * kMiB;  // Bounds what a start has to replay.
    // One flushes, one merges, and one more merges what is new while that takes long.
    options.max_background_jobs = 3;
    options.compaction_readahead_size = 2 * kMiB;  // A merge reads many files side by side.
    options.bytes_per_sync = kMiB;  // A large file that is written at once would hold up the synced writes.
    options.skip_stats_update_on_db_open = true;
    // A log that others come after is known to the manifest by its size, and must be there when it is needed.
    options.track_and_verify_wals_in_manifest = place.when_lost == WhenLost::Refuse;
    // Ends at the first record that cannot be read; check_logs has made sure that it is the last one.
    options.wal_recovery_mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery;
    options.info_log = make_rocks_log(place.log);
    options.env = env_of(place);
    return options;
}

// The name of a new folder outlives a power loss only when the folder above it is synced.
rocksdb::Status sync_parent(const RocksPlace& place) {
    std::error_code unknown;
    auto folder = std::filesystem::absolute(place.path, unknown).lexically_normal();
    if (!folder.has_filename()) {
        folder = folder.parent_path();  // "data/" names the same folder as "data".
    }
    std::unique_ptr<rocksdb::Directory> parent;
    // Whoever may not open it has not made the folder either.
    const auto opened = env_of(place)->NewDirectory(folder.parent_path().string(), &parent);
    return opened.ok() ? parent->Fsync() : rocksdb::Status::OK();
}

}  // namespace

rocksdb::Env* env_of(const RocksPlace& place) {
    return place.env != nullptr ? place.env : rocksdb::Env::Default();
}

StoreError to_error(const char* action, const rocksdb::Status& status) {
    const std::string text = status.ToString();
    StoreError error{std::string{action} + ": " + text};
    if (status.IsNoSpace()) {
        error.advice = "Free some space; nothing is lost.";
    } else if (status.IsCorruption()) {
        error.advice = text.find("WAL") != std::string::npos
                           ? kLossAdvice
                           : "The folder is damaged: restore it from a backup.";
    }
    return error;
}

namespace {

Unexpected<StoreError> lost(const std::string& what) { return Unexpected{StoreError{what, kLossAdvice}}; }

// What can be said of a folder before it is opened. RocksDB would make a new database where it finds no
// CURRENT, and remove the files of the old one.
Result<void, StoreError> check_files(const RocksPlace& place, std::optional<std::uint64_t> answered) {
    rocksdb::Env& env = *env_of(place);
    if (answered && env.FileExists(place.path + "/CURRENT").IsNotFound()) {
        return Unexpected{StoreError{"the folder " + place.path + " has lost its file CURRENT",
                                     "The folder is damaged: restore it from a backup."}};
    }
    if (place.when_lost == WhenLost::GoOn) {
        return {};
    }
    const auto last = check_logs(env, place.path);
    if (!last) {
        return Unexpected{last.error()};
    }
    if (answered && *last != 0 && *last < *answered) {
        return lost("the last " + std::to_string(*answered - *last) +
                    " rows that were answered are missing " + "from the log in " + place.path);
    }
    return {};
}

// Families that no set has claimed, by name.
std::vector<std::string> strangers(const rocksdb::DBOptions& options, const std::string& path,
                                   const std::vector<rocksdb::ColumnFamilyDescriptor>& known) {
    std::vector<std::string> names;
    if (!rocksdb::DB::ListColumnFamilies(options, path, &names).ok()) {
        return {};
    }
    std::erase_if(names, [&](const std::string& name) {
        return std::ranges::find(known, name, &rocksdb::ColumnFamilyDescriptor::name) != known.end();
    });
    std::ranges::sort(names);
    return names;
}

StoreError unknown_tables(const std::string& path, const std::vector<std::string>& names) {
    std::string list;
    for (const std::string& name : names) {
        list += (list.empty() ? "" : ", ") + name;
    }
    // Rows of several sets are stored together and belong together: to go on with some of them alone would
    // leave the others wrong.
    return {"the folder " + path + " has tables that this Sluice does not know: " + list, kNewerAdvice};
}

}  // namespace

Result<std::shared_ptr<Database>, StoreError> Database::open(const RocksPlace& place, const TableSets& sets) {
    const auto answered = HighWater::read(*env_of(place), place.path);
    if (const auto checked = check_files(place, answered); !checked) {
        return Unexpected{checked.error()};
    }
    std::shared_ptr<Database> database{new Database};
    if (const auto opened = database->open_tables(place, sets); !opened) {
        return Unexpected{opened.error()};
    }
    if (const auto checked = database->check_format(place); !checked) {
        return Unexpected{checked.error()};
    }
    if (const auto checked = database->check_reach(place, answered); !checked) {
        return Unexpected{checked.error()};
    }
    for (const auto& set : sets) {
        if (const auto told = set->opened(*database); !told) {
            return Unexpected{told.error()};
        }
    }
    return database;
}

Result<void, StoreError> Database::open_tables(const RocksPlace& place, const TableSets& sets) {
    const auto cache = make_cache(place);
    std::vector<rocksdb::ColumnFamilyDescriptor> families;
    families.emplace_back(rocksdb::kDefaultColumnFamilyName, table_options(cache));
    for (const auto& set : sets) {
        const std::vector<TableDraft> drafts = set->tables();
        sets_.push_back({set.get(), families.size(), drafts.size()});
        for (const TableDraft& draft : drafts) {
            families.emplace_back(draft.name, table_options(draft, cache));
        }
    }
    auto options = database_options(place);
    files_.reset(rocksdb::NewSstFileManager(options.env, options.info_log));
    options.sst_file_manager = files_;
    rocksdb::DB* raw = nullptr;
    const auto status = rocksdb::DB::Open(options, place.path, families, &tables_, &raw);
    if (status.IsInvalidArgument()) {
        if (const auto names = strangers(options, place.path, families); !names.empty()) {
            return Unexpected{unknown_tables(place.path, names)};
        }
    }
    if (!status.ok()) {
        return Unexpected{to_error(("cannot open " + place.path).c_str(), status)};
    }
    db_.reset(raw);
    return {};
}

std::span<const Database::Table> Database::tables_of(const TableSet& set) const {
    const auto place = std::ranges::find(sets_, &set, &SetPlace::set);
    assert(place != sets_.end());
    return std::span{tables_}.subspan(place->first, place->count);
}

Database::~Database() {
    if (high_water_) {
        high_water_->sync();
    }
    for (Table table : tables_) {
        db_->DestroyColumnFamilyHandle(table);
    }
}

Result<void, StoreError> Database::write_format(const RocksPlace& place) {
    const std::unique_ptr<rocksdb::Iterator> rows{db_->NewIterator({}, meta())};
    rows->SeekToFirst();
    if (rows->Valid()) {
        return Unexpected{StoreError{"the folder " + place.path + " holds a database that is not Sluice's"}};
    }
    if (const auto synced = sync_parent(place); !synced.ok()) {
        return Unexpected{to_error("cannot sync the folder above the data", synced)};
    }
    rocksdb::WriteBatch batch;
    auto written = batch.Put(meta(), kFormatKey, ByteWriter{}.number(kFormatVersion).bytes());
    if (written.ok()) {
        written = write(batch);
    }
    if (!written.ok()) {
        return Unexpected{to_error("cannot write the format", written)};
    }
    set_format(kFormatVersion);
    return {};
}

Result<void, StoreError> Database::check_format(const RocksPlace& place) {
    std::string stored;
    const auto found = db_->Get({}, meta(), kFormatKey, &stored);
    if (found.IsNotFound()) {
        return write_format(place);
    }
    if (!found.ok()) {
        return Unexpected{to_error("cannot read the format", found)};
    }
    ByteReader reader{stored};
    const auto version = reader.number<std::uint32_t>();
    if (!reader.consumed() || version == 0) {
        return Unexpected{StoreError{"the format of the data folder cannot be read",
                                     "The folder is damaged: restore it from a backup."}};
    }
    if (version > kFormatVersion) {
        return Unexpected{StoreError{"the data folder has format " + std::to_string(version) +
                                         ", written by a newer Sluice; this one reads up to format " +
                                         std::to_string(kFormatVersion),
                                     kNewerAdvice}};
    }
    set_format(version);
    return {};
}

Result<void, StoreError> Database::check_reach(const RocksPlace& place,
                                               std::optional<std::uint64_t> answered) {
    const std::uint64_t reached = db_->GetLatestSequenceNumber();
    if (answered && reached < *answered && place.when_lost == WhenLost::Refuse) {
        return lost("the last " + std::to_string(*answered - reached) +
                    " rows that were answered are missing " + "from " + place.path);
    }
    std::unique_ptr<rocksdb::LogFile> log;
    if (db_->GetCurrentWalFile(&log).ok()) {
        remove_empty_logs(*env_of(place), place.path, log->LogNumber());
    }
    const std::lock_guard lock{mutex_};
    high_water_.emplace(*env_of(place), place.path);
    high_water_->write(reached);
    return {};
}

rocksdb::Status Database::write(rocksdb::WriteBatch& batch) {
    rocksdb::WriteOptions durable;
    durable.sync = true;
    auto written = db_->Write(durable, &batch);
    const std::lock_guard lock{mutex_};
    failed_ = failed_ || !written.ok();
    if (written.ok() && high_water_) {
        high_water_->write(db_->GetLatestSequenceNumber());
    }
    return written;
}

std::uint64_t Database::unsorted() const {
    std::uint64_t held = tables_.size() * kWriteBuffer;
    db_->GetAggregatedIntProperty(rocksdb::DB::Properties::kCurSizeAllMemTables, &held);
    // An empty buffer has its filter already.
    constexpr auto kFilter = static_cast<std::uint64_t>(kWriteBufferFilter * kWriteBuffer);
    return held - std::min(held, tables_.size() * kFilter);
}

void Database::allow_merges(std::uint64_t free, std::uint64_t kept) {
    // RocksDB compares the files, those that a merge would add and `buffer` with `allowed`. It also refuses
    // to go on at all once the files alone reach that, which is for the ledger to decide: hence so much of
    // both.
    constexpr std::uint64_t kFarAway = std::uint64_t{1} << 50U;
    files_->SetMaxAllowedSpaceUsage(files_->GetTotalSize() + free + kFarAway);
    files_->SetCompactionBufferSize(kept + kFarAway);
}

void Database::empty_log() {
    {
        const std::lock_guard lock{mutex_};
        if (failed_) {
            return;
        }
    }
    static_cast<void>(db_->Flush({}, tables_));
}

}  // namespace sluice::rocks
