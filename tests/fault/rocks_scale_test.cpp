// How the embedded store behaves when it holds more than its cache can: a small picture of hundreds of
// millions of slots. `tools/torture scale` draws the large one.
#include <algorithm>

#include <gtest/gtest.h>
#include <rocksdb/db.h>
#include <rocksdb/perf_context.h>
#include <rocksdb/perf_level.h>

#include "base/random.hpp"
#include "store/rocks/database.hpp"
#include "store/rocks/rocks_slot_tables.hpp"
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

class RocksScale : public testing::Test {
protected:
    void SetUp() override {
        fill();
        // The newest files have their filters in memory whatever the cache is: sort them in.
        const auto database = rocks::Database::open({.path = path_}).value();
        ASSERT_TRUE(
            database->db().CompactRange({}, database->table(rocks::Table::Slots), nullptr, nullptr).ok());
    }

    void fill() {
        const auto tables = open_rocks_slot_tables({.path = path_}).value();
        for (std::size_t stored = 0; stored < kSlots; stored += 10'000) {
            SlotChanges changes;
            for (int i = 0; i < 10'000; ++i) {
                changes.slots.emplace_back(event(random_id(random_)), ConfigId{1}, kNoon, kNoon, kNoon + 5ms);
            }
            std::ranges::sort(changes.slots, {}, [](const Slot& slot) { return slot.event_id.text(); });
            ASSERT_TRUE(tables->commit(changes));
        }
    }

    // What look-ups of new events read from the files, after some to warm up.
    struct Read {
        double bytes;
        double blocks;
    };
    Read read_for_each(std::uint64_t cache) {
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
        return {static_cast<double>(counted->block_read_byte) / kAsked,
                static_cast<double>(counted->block_read_count) / kAsked};
    }

    Random random_{11};
    TempFolder temp_;
    std::string path_ = temp_ / "data";
};

TEST_F(RocksScale, ReadsAlmostNothingForANewEventWhileItsFiltersFitTheCache) {
    EXPECT_LT(read_for_each(std::uint64_t{4} << 20U).blocks, 0.1);
}

// Beyond that it reads a little more for each, and not whole filters of whole files.
TEST_F(RocksScale, ReadsSmallPartsOfFiltersOnceTheyOutgrowTheCache) {
    EXPECT_LT(read_for_each(std::uint64_t{64} << 10U).bytes, 32'768);
}

}  // namespace
}  // namespace sluice::test
