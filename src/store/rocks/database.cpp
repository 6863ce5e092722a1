#include "store/rocks/database.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/sst_file_manager.h>
#include <rocksdb/table.h>
#include <rocksdb/transaction_log.h>
#include <rocksdb/write_batch.h>
#include <unistd.h>

#include "base/bytes.hpp"
#include "store/rocks/log_check.hpp"
#include "store/rocks/rocks_log.hpp"
#include "store/rocks/slot_codec.hpp"

namespace sluice::rocks {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::size_t kWriteBuffer = 32 * kMiB;
constexpr double kWriteBufferFilter = 0.02;  // Of a write buffer, for a filter of its own.

rocksdb::ColumnFamilyOptions table_options(const std::shared_ptr<rocksdb::Cache>& cache) {
    rocksdb::BlockBasedTableOptions blocks;
    blocks.block_cache = cache;
    // Filters answer "this event is new" without touching the disk, which is what nearly every request asks
    // of every sorted run. With the usual 10 bits a key, the wrong answers would cost more than the right
    // ones.
    constexpr double kBitsPerKey = 14;
    blocks.filter_policy.reset(rocksdb::NewBloomFilterPolicy(kBitsPerKey));
    blocks.optimize_filters_for_memory = true;
    // A filter for each file, in memory while the file is open. In parts that are looked up in the cache one
    // by one, a run costs six times as much to ask; and whole ones that come and go would be read by the
    // megabyte.
    blocks.metadata_cache_options.unpartitioned_pinning = rocksdb::PinningTier::kAll;
    blocks.block_size = 16 * 1024;  // The index of the usual 4 KiB would take four times the memory.
    // In small parts, of which the cache keeps those that are used.
    blocks.index_type = rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
    blocks.metadata_block_size = 16 * 1024;  // Of the usual 4 KiB there would be four times as many to find.
    blocks.cache_index_and_filter_blocks = true;
    blocks.cache_index_and_filter_blocks_with_high_priority = true;
    blocks.format_version = 5;
    rocksdb::ColumnFamilyOptions options;
    options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(blocks));
    // Half of a row is its id, which does not shrink; the rest is small. Not worth the work at every merge.
    options.compression = rocksdb::kNoCompression;
    options.write_buffer_size = kWriteBuffer;
    options.memtable_whole_key_filtering = true;
    options.memtable_prefix_bloom_size_ratio = kWriteBufferFilter;
    return options;
}

// For tables whose keys come in no order, so that a new file overlaps all the old ones. Sorted level by level
// each row would be rewritten five to ten times a level; here runs wait until there are enough of about one
// size, and are merged once. See ADR 21.
void merge_by_size(rocksdb::ColumnFamilyOptions& options) {
    options.compaction_style = rocksdb::kCompactionStyleUniversal;
    // Each run is one more filter to ask for a new event, each merge one more time that all of it is written:
    // at about this number both together cost least.
    constexpr int kRunsMax = 16;
    options.level0_file_num_compaction_trigger = kRunsMax;
    // Flushes go on while a large merge takes minutes.
    options.level0_slowdown_writes_trigger = 4 * kRunsMax;
    options.level0_stop_writes_trigger = 6 * kRunsMax;
    // Rows are seldom overwritten, so several runs waste no room; the usual 200 would merge all of them again
    // and again.
    options.compaction_options_universal.max_size_amplification_percent = 1000;
    // Few files, because each has to be asked; what making the filter of one takes is the limit.
    options.target_file_size_base = 256 * kMiB;
}

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

// What this process may use: the machine's memory, or what its group is limited to.
std::uint64_t memory_size() {
    const auto pages = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES));
    const std::uint64_t machine = pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    std::uint64_t group = 0;
    std::ifstream{"/sys/fs/cgroup/memory.max"} >> group;  // "max" is no number.
    return group > 0 ? std::min(machine, group) : machine;
}

std::uint64_t usual_cache() { return std::clamp<std::uint64_t>(memory_size() / 8, 64 * kMiB, 512 * kMiB); }

// In seconds.
std::uint64_t rewritten_every(Duration retention) {
    using std::chrono::seconds;
    const auto quarter = std::chrono::duration_cast<seconds>(retention / 4);
    return static_cast<std::uint64_t>(
        std::clamp<seconds>(quarter, std::chrono::days{1}, std::chrono::days{30}).count());
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

}  // namespace

Result<std::shared_ptr<Database>, StoreError> Database::open(const RocksPlace& place) {
    const auto answered = HighWater::read(*env_of(place), place.path);
    if (const auto checked = check_files(place, answered); !checked) {
        return Unexpected{checked.error()};
    }
    constexpr double kForFilters = 0.9;
    const auto cache = rocksdb::NewLRUCache(place.cache.value_or(usual_cache()), 0, false, kForFilters);
    std::shared_ptr<Database> database{new Database};
    auto forgetting = table_options(cache);
    merge_by_size(forgetting);
    forgetting.compaction_filter_factory = make_forgetting(database->horizon_);
    forgetting.periodic_compaction_seconds = place.retention ? rewritten_every(*place.retention) : 0;
    const std::vector<rocksdb::ColumnFamilyDescriptor> tables{
        {rocksdb::kDefaultColumnFamilyName, table_options(cache)},
        {"slots", forgetting},
        {"past", forgetting},
        {"counts", table_options(cache)},
    };
    rocksdb::DB* raw = nullptr;
    std::vector<rocksdb::ColumnFamilyHandle*> handles;
    auto options = database_options(place);
    database->files_.reset(rocksdb::NewSstFileManager(options.env, options.info_log));
    options.sst_file_manager = database->files_;
    const auto status = rocksdb::DB::Open(options, place.path, tables, &handles, &raw);
    if (!status.ok()) {
        return Unexpected{to_error(("cannot open " + place.path).c_str(), status)};
    }
    database->db_.reset(raw);
    std::copy(handles.begin(), handles.end(), database->handles_.begin());
    if (const auto checked = database->check_format(place); !checked) {
        return Unexpected{checked.error()};
    }
    if (const auto read = database->read_horizon(); !read) {
        return Unexpected{read.error()};
    }
    if (const auto checked = database->check_reach(place, answered); !checked) {
        return Unexpected{checked.error()};
    }
    return database;
}

Database::~Database() {
    if (high_water_) {
        high_water_->sync();
    }
    for (rocksdb::ColumnFamilyHandle* handle : handles_) {
        if (handle != nullptr) {
            db_->DestroyColumnFamilyHandle(handle);
        }
    }
}

Result<void, StoreError> Database::write_format(const RocksPlace& place) {
    const std::unique_ptr<rocksdb::Iterator> rows{db_->NewIterator({}, table(Table::Meta))};
    rows->SeekToFirst();
    if (rows->Valid()) {
        return Unexpected{StoreError{"the folder " + place.path + " holds a database that is not Sluice's"}};
    }
    if (const auto synced = sync_parent(place); !synced.ok()) {
        return Unexpected{to_error("cannot sync the folder above the data", synced)};
    }
    rocksdb::WriteBatch batch;
    auto written = batch.Put(table(Table::Meta), kFormatKey, ByteWriter{}.number(kFormatVersion).bytes());
    if (written.ok()) {
        written = write(batch);
    }
    return written.ok() ? Result<void, StoreError>{}
                        : Unexpected{to_error("cannot write the format", written)};
}

Result<void, StoreError> Database::check_format(const RocksPlace& place) {
    std::string stored;
    const auto found = db_->Get({}, table(Table::Meta), kFormatKey, &stored);
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
                                     "Use the version of Sluice that wrote the folder, or a newer one."}};
    }
    return {};
}

Result<void, StoreError> Database::read_horizon() {
    std::string stored;
    const auto found = db_->Get({}, table(Table::Meta), kHorizonKey, &stored);
    if (found.IsNotFound()) {
        return {};
    }
    const auto horizon = decode_instant(stored);
    if (!found.ok() || !horizon) {
        return Unexpected{found.ok() ? StoreError{"the horizon cannot be read"}
                                     : to_error("cannot read the horizon", found)};
    }
    set_horizon(*horizon);
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
    high_water_.emplace(*env_of(place), place.path);
    high_water_->write(reached);
    return {};
}

rocksdb::Status Database::write(rocksdb::WriteBatch& batch) {
    rocksdb::WriteOptions durable;
    durable.sync = true;
    auto written = db_->Write(durable, &batch);
    failed_ = failed_ || !written.ok();
    if (written.ok() && high_water_) {
        high_water_->write(db_->GetLatestSequenceNumber());
    }
    return written;
}

std::uint64_t Database::unsorted() const {
    std::uint64_t held = kTables * kWriteBuffer;
    db_->GetAggregatedIntProperty(rocksdb::DB::Properties::kCurSizeAllMemTables, &held);
    // An empty buffer has its filter already.
    constexpr auto kEmpty = static_cast<std::uint64_t>(kWriteBufferFilter * kTables * kWriteBuffer);
    return held - std::min(held, kEmpty);
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
    if (failed_) {
        return;
    }
    const std::vector<rocksdb::ColumnFamilyHandle*> tables{handles_.begin(), handles_.end()};
    static_cast<void>(db_->Flush({}, tables));
}

}  // namespace sluice::rocks
