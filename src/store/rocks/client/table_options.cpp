#include <algorithm>
#include <fstream>

#include <rocksdb/compaction_filter.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/merge_operator.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/table.h>
#include <unistd.h>

#include "store/rocks/client/table_options_internal.hpp"

namespace sluice::rocks {
namespace {

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

// What this process may use: the machine's memory, or what its group is limited to.
std::uint64_t memory_size() {
    const auto pages = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES));
    const std::uint64_t machine = pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    std::uint64_t group = 0;
    std::ifstream{"/sys/fs/cgroup/memory.max"} >> group;  // "max" is no number.
    return group > 0 ? std::min(machine, group) : machine;
}

std::uint64_t usual_cache() { return std::clamp<std::uint64_t>(memory_size() / 8, 64 * kMiB, 512 * kMiB); }

}  // namespace

std::shared_ptr<rocksdb::Cache> make_cache(const RocksPlace& place) {
    constexpr double kForFilters = 0.9;
    return rocksdb::NewLRUCache(place.cache.value_or(usual_cache()), 0, false, kForFilters);
}

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

rocksdb::ColumnFamilyOptions table_options(const TableDraft& draft,
                                           const std::shared_ptr<rocksdb::Cache>& cache) {
    auto options = table_options(cache);
    if (draft.keys == KeyOrder::Mixed) {
        merge_by_size(options);
    }
    if (draft.sorted_batches) {
        // A row is looked for from where the one before it went, not from the top. RocksDB would go on from
        // there with a range that is removed too, though ranges stand elsewhere.
        options.memtable_insert_with_hint_prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(0));
    }
    options.compaction_filter_factory = draft.filter;
    options.merge_operator = draft.merge;
    options.periodic_compaction_seconds =
        draft.sorted_every ? static_cast<std::uint64_t>(draft.sorted_every->count()) : 0;
    return options;
}

}  // namespace sluice::rocks
