// How the embedded store behaves when it holds more than its cache can: a small picture of hundreds of
// millions of slots. `tools/torture scale` draws the large one.
#include <algorithm>
#include <map>
#include <thread>

#include <gtest/gtest.h>
#include <rocksdb/db.h>
#include <rocksdb/perf_context.h>
#include <rocksdb/perf_level.h>
#include <rocksdb/write_batch.h>

#include "base/random.hpp"
#include "store/rocks/slots/rocks_slot_tables.hpp"
#include "store/rocks/slots/slot_codec.hpp"
#include "support/recording_log.hpp"
#include "support/slot_words.hpp"
#include "support/temp_folder.hpp"

namespace sluice::test {
namespace {

constexpr std::size_t kSlots = 400'000;

// Random ids, so that each lies anywhere.
std::string random_id(Random& random) {
    std::string id;
    for (int i = 0; i < 3; ++i) {
        id += std::to_string(random.next());
    }
    return id;
}

void wait_for_merges(rocksdb::DB& db, rocksdb::ColumnFamilyHandle* table) {
    const auto counted = [&](const std::string& property) {
        std::uint64_t value = 0;
        EXPECT_TRUE(db.GetIntProperty(table, property, &value));
        return value;
    };
    while (counted(rocksdb::DB::Properties::kCompactionPending) != 0 ||
           counted(rocksdb::DB::Properties::kNumRunningCompactions) != 0) {
        std::this_thread::yield();
    }
}

class RocksScale : public testing::Test {
protected:
    void SetUp() override {
        fill();
        // The newest files have their filters in memory whatever the cache is: sort them in.
        const auto set = std::make_shared<rocks::SlotTableSet>();
        const auto database = rocks::Database::open({.path = path_}, {set}).value();
        const auto table = set->table(*database, rocks::SlotTable::Slots);
        ASSERT_TRUE(database->db().CompactRange({}, table, nullptr, nullptr).ok());
    }

    void fill() {
        const auto tables = open_rocks_slot_tables({.path = path_}).value();
        for (std::size_t stored = 0; stored < kSlots; stored += 10'000) {
            SlotChanges changes;
            for (int i = 0; i < 10'000; ++i) {
                changes.slots.push_back({event(random_id(random_)), ConfigId{1}, kNoon, kNoon, kNoon + 5ms});
            }
            std::ranges::sort(changes.slots, {}, [](const Slot& slot) { return slot.event_id.text(); });
            ASSERT_TRUE(tables->commit(changes));
        }
    }

    // Blocks that a look-up of a new event reads from the files, after some to warm up.
    double blocks_for_each(std::uint64_t cache) {
        const auto tables = open_rocks_slot_tables({.path = path_, .cache = cache}).value();
        constexpr int kAsked = 2'000;
        for (int i = 0; i < 2 * kAsked; ++i) {
            if (i == kAsked) {
                rocksdb::SetPerfLevel(rocksdb::kEnableCount);
                rocksdb::get_perf_context()->Reset();
            }
            const std::string id = random_id(random_);
            const std::string_view view = id;
            EXPECT_FALSE(tables->find({&view, 1}).value().front());
        }
        rocksdb::SetPerfLevel(rocksdb::kDisable);
        const auto* counted = rocksdb::get_perf_context();
        return static_cast<double>(counted->block_read_count) / kAsked;
    }

    Random random_{11};
    TempFolder temp_;
    std::string path_ = temp_ / "data";
};

// The filters are in memory, however little the cache may hold.
TEST_F(RocksScale, ReadsAlmostNothingForANewEvent) {
    EXPECT_LT(blocks_for_each(std::uint64_t{64} << 20U), 0.1);
    EXPECT_LT(blocks_for_each(std::uint64_t{64} << 10U), 0.1);
}

class RocksMerges : public testing::Test {
protected:
    // As if a write buffer were full.
    void add_run() {
        rocksdb::WriteBatch batch;
        for (int i = 0; i < 1'000; ++i) {
            const Slot slot{event(random_id(random_)), ConfigId{1}, kNoon, kNoon, kNoon + 5ms};
            ASSERT_TRUE(batch.Put(slots_, slot.event_id.text(), rocks::encode_slot(slot)).ok());
        }
        ASSERT_TRUE(database_->write(batch).ok());
        ASSERT_TRUE(database_->db().Flush({}, slots_).ok());
    }
    [[nodiscard]] std::size_t runs() const {
        rocksdb::ColumnFamilyMetaData files;
        database_->db().GetColumnFamilyMetaData(slots_, &files);
        std::size_t count = files.levels.front().files.size();
        for (std::size_t level = 1; level < files.levels.size(); ++level) {
            count += files.levels[level].files.empty() ? 0 : 1;
        }
        return count;
    }

    Random random_{12};
    RecordingLog log_;
    TempFolder temp_;
    const std::shared_ptr<rocks::SlotTableSet> set_ = std::make_shared<rocks::SlotTableSet>();
    const std::shared_ptr<rocks::Database> database_ =
        rocks::Database::open({.path = temp_ / "data", .log = &log_}, {set_}).value();
    rocksdb::ColumnFamilyHandle* const slots_ = set_->table(*database_, rocks::SlotTable::Slots);
};

// Sorted level by level it would be rewritten again and again.
TEST_F(RocksMerges, WriteARandomIdAFewTimesOnlyAndLeaveFewRuns) {
    for (int run = 0; run < 100; ++run) {
        ASSERT_NO_FATAL_FAILURE(add_run());
        wait_for_merges(database_->db(), slots_);
    }

    std::map<std::string, std::string> figures;
    ASSERT_TRUE(database_->db().GetMapProperty(slots_, rocksdb::DB::Properties::kCFStats, &figures));
    EXPECT_LT(std::stod(figures.at("compaction.Sum.WriteAmp")), 4.0);
    EXPECT_LE(runs(), 16U);
}

// One that fails for want of room would have taken it all from the log until then.
TEST_F(RocksMerges, WaitUntilWhatTheyWriteFitsBesideWhatTheyRead) {
    constexpr std::uint64_t kKept = 16'000'000;
    database_->allow_merges(kKept + 100'000, kKept);
    constexpr std::size_t kRuns = 20;
    for (std::size_t run = 0; run < kRuns; ++run) {
        ASSERT_NO_FATAL_FAILURE(add_run());
    }
    while (log_.count_starting("WARN RocksDB - Files are not merged") == 0 && runs() == kRuns) {
        std::this_thread::yield();
    }
    EXPECT_EQ(runs(), kRuns);

    database_->allow_merges(kKept + 100'000'000, kKept);

    wait_for_merges(database_->db(), slots_);
    EXPECT_LE(runs(), 16U);
    EXPECT_EQ(log_.count_starting("WARN RocksDB - Files are not merged"), 1U);
}

}  // namespace
}  // namespace sluice::test
