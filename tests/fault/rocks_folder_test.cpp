#include <algorithm>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>

#include "app/slots/slot_ledger.hpp"
#include "base/bytes.hpp"
#include "store/rocks/slots/rocks_slot_tables.hpp"
#include "store/rocks/slots/slot_codec.hpp"
#include "support/counting_metrics.hpp"
#include "support/hand_clock.hpp"
#include "support/recording_log.hpp"
#include "support/slot_words.hpp"
#include "support/temp_folder.hpp"

namespace sluice::test {
namespace {

using testing::HasSubstr;

class RocksFolder : public testing::Test {
protected:
    [[nodiscard]] Result<std::unique_ptr<SlotTables>, StoreError> open() const {
        return open_rocks_slot_tables({path_});
    }

    // Makes the folder, with one slot in it.
    void make() {
        HandClock clock{kNoon};
        CountingMetrics metrics;
        RecordingLog log;
        const auto ledger = make_slot_ledger(open().value(), {}, {clock, metrics, log});
        ASSERT_TRUE(ledger->put_config(draft("a", 5, 1s)));
        ASSERT_TRUE(run_one(*ledger, assign("x", "a", SlotAsk{kNoon})));
    }

    // Writes a row behind the store's back.
    void write(const std::string& table, const std::string& key, const std::string& value) const {
        std::vector<rocksdb::ColumnFamilyDescriptor> families;
        for (const char* name : {"default", "slots", "past", "counts"}) {
            families.emplace_back(name, rocksdb::ColumnFamilyOptions{});
        }
        std::vector<rocksdb::ColumnFamilyHandle*> handles;
        rocksdb::DB* raw = nullptr;
        ASSERT_TRUE(rocksdb::DB::Open({}, path_, families, &handles, &raw).ok());
        const std::unique_ptr<rocksdb::DB> db{raw};
        for (rocksdb::ColumnFamilyHandle* handle : handles) {
            if (handle->GetName() == table) {
                ASSERT_TRUE(db->Put({}, handle, key, value).ok());
            }
            ASSERT_TRUE(db->DestroyColumnFamilyHandle(handle).ok());
        }
    }

    TempFolder temp_;
    std::string path_ = temp_ / "data";
    const std::shared_ptr<rocks::SlotTableSet> slots_ = std::make_shared<rocks::SlotTableSet>();
};

TEST_F(RocksFolder, IsRefusedWhenANewerSluiceWroteIt) {
    make();
    write("default", "format", ByteWriter{}.number(rocks::kFormatVersion + 1).bytes());

    const auto opened = open();

    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().what, "the data folder has format " + std::to_string(rocks::kFormatVersion + 1) +
                                       ", written by a newer Sluice; this one reads up to format " +
                                       std::to_string(rocks::kFormatVersion));
}

// An older Sluice can go on with the folder until there is something that it would not understand.
TEST_F(RocksFolder, KeepsAnOlderFormatUntilAConfigNeedsTheNewest) {
    make();
    write("default", "format", ByteWriter{}.number(std::uint32_t{2}).bytes());
    const auto put = [this](const ConfigDraft& draft) {
        HandClock clock{kNoon};
        CountingMetrics metrics;
        RecordingLog log;
        return make_slot_ledger(open().value(), {}, {clock, metrics, log})->put_config(draft).has_value();
    };
    const auto format = [this] { return rocks::Database::open({.path = path_}, {slots_}).value()->format(); };

    ASSERT_TRUE(put(draft("b", 5, 1s)));
    EXPECT_EQ(format(), 2U);
    ASSERT_TRUE(put(stratified(draft("b", 5, 1s))));
    EXPECT_EQ(format(), rocks::kFormatVersion);
}

// Until then its rows are written as the older Sluice reads them, and afterwards they say their version.
TEST_F(RocksFolder, WritesRowsAsItsFormatAllows) {
    make();
    write("default", "format", ByteWriter{}.number(std::uint32_t{3}).bytes());
    const auto store = [this](std::string_view id, std::optional<Instant> horizon = std::nullopt) {
        SlotChanges changes;
        changes.slots.push_back({event(id), ConfigId{1}, kNoon, kNoon, kNoon});
        changes.horizon = horizon;
        return open().value()->commit(changes).has_value();
    };
    const auto row = [this](const std::string& id) {
        const auto database = rocks::Database::open({.path = path_}, {slots_}).value();
        std::string stored;
        EXPECT_TRUE(
            database->db().Get({}, slots_->table(*database, rocks::SlotTable::Slots), id, &stored).ok());
        return stored;
    };

    ASSERT_TRUE(store("older"));
    ASSERT_TRUE(store("newer", kNoon - 1h));

    EXPECT_EQ(rocks::read_record(row("older")).version, 1);
    EXPECT_EQ(rocks::read_record(row("newer")).version, rocks::kSlotRecord);
    EXPECT_EQ(rocks::read_record(row("newer")).rest, row("older"));
    const auto tables = open().value();
    const std::vector<std::string_view> ids{"newer", "older"};
    const auto found = tables->find(ids).value();
    for (const auto& slot : found) {
        ASSERT_TRUE(slot);
        EXPECT_EQ(slot->scheduled, kNoon);
    }
}

TEST_F(RocksFolder, GivesAnErrorAndNoSlotForARowThatANewerSluiceWrote) {
    make();
    write("slots", "x",
          "\x83"
          "newer");
    const auto tables = open().value();
    const std::string_view id = "x";

    const auto found = tables->find({&id, 1});

    ASSERT_FALSE(found);
    EXPECT_EQ(
        found.error().what,
        "a row of table slots has version 3, written by a newer Sluice; this one reads up to version 2");
    EXPECT_EQ(found.error().advice, "Use the version of Sluice that wrote the folder, or a newer one.");
    EXPECT_EQ(recount(*tables).error().what, found.error().what);
}

TEST_F(RocksFolder, IsRefusedWhenItsFormatCannotBeRead) {
    make();
    write("default", "format", "?");

    EXPECT_FALSE(open());
}

TEST_F(RocksFolder, IsRefusedWhileAnotherHoldsIt) {
    const auto first = open();
    ASSERT_TRUE(first);

    const auto second = open();

    ASSERT_FALSE(second);
    EXPECT_THAT(second.error().what, HasSubstr("cannot open " + path_));
    EXPECT_THAT(second.error().what, testing::ContainsRegex("[Ll]ock"));
}

TEST_F(RocksFolder, MayBeOpenedAgainOnceItIsLetGo) {
    make();

    const auto tables = open();

    ASSERT_TRUE(tables);
    EXPECT_EQ(recount(**tables)->slots, 1U);
}

TEST_F(RocksFolder, IsRefusedWhenItHoldsAnotherDatabase) {
    {
        rocksdb::Options options;
        options.create_if_missing = true;
        rocksdb::DB* raw = nullptr;
        ASSERT_TRUE(rocksdb::DB::Open(options, path_, &raw).ok());
        const std::unique_ptr<rocksdb::DB> other{raw};
        ASSERT_TRUE(other->Put({}, "somebody's key", "somebody's value").ok());
    }

    const auto opened = open();

    ASSERT_FALSE(opened);
    EXPECT_THAT(opened.error().what, HasSubstr("not Sluice's"));
}

TEST_F(RocksFolder, IsRefusedWhenItIsAFile) {
    std::ofstream{path_} << "text";

    EXPECT_FALSE(open());
}

TEST_F(RocksFolder, GivesAnErrorAndNoSlotForARowThatCannotBeRead) {
    make();
    write("slots", "x", "not a slot");
    const auto tables = open().value();
    const std::string_view id = "x";

    const auto found = tables->find({&id, 1});

    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().what, "a row of table slots cannot be read");
    EXPECT_FALSE(recount(*tables));
}

TEST_F(RocksFolder, GivesAnErrorForCountsThatCannotBeRead) {
    make();
    write("counts", rocks::count_key(PoolId{1}, 5), "???");
    const auto tables = open().value();

    EXPECT_FALSE(tables->scan_counts(PoolId{1}, {0, 10}, [](WindowIndex, Places) { return true; }));
}

TEST_F(RocksFolder, GivesAnErrorForConfigsThatCannotBeRead) {
    make();
    write("default", rocks::config_key(ConfigId{9}), "not a config");

    EXPECT_FALSE(open().value()->load_configs());
}

TEST_F(RocksFolder, AnswersNothingWrongOverDamagedRows) {
    make();
    write("slots", "x", "not a slot");
    HandClock clock{kNoon};
    CountingMetrics metrics;
    RecordingLog log;
    const auto ledger = make_slot_ledger(open().value(), {}, {clock, metrics, log});

    EXPECT_EQ(ledger->find(event("x")).error().fault, SlotFault::Unavailable);
    EXPECT_EQ(run_one(*ledger, assign("x", "a", SlotAsk{kNoon})).error().fault, SlotFault::Unavailable);
}

// Not only out of sight: the disk gets the room back when files are sorted.
TEST_F(RocksFolder, DropsForgottenRowsWhenFilesAreSorted) {
    {
        const auto tables = open().value();
        SlotChanges changes;
        for (int i = 0; i < 1'000; ++i) {
            const Instant time = kNoon + i * 1min;
            changes.slots.push_back({event("e" + std::to_string(10'000 + i)), ConfigId{1}, time, time, time});
            changes.past.push_back(changes.slots.back());
        }
        ASSERT_TRUE(tables->commit(changes));
        SlotChanges forget;
        forget.horizon = kNoon + 900min;
        ASSERT_TRUE(tables->commit(forget));
    }
    const auto database = rocks::Database::open({.path = path_}, {slots_}).value();
    for (const auto name : {rocks::SlotTable::Slots, rocks::SlotTable::Past}) {
        const auto table = slots_->table(*database, name);
        ASSERT_TRUE(database->db().CompactRange({}, table, nullptr, nullptr).ok());
        const std::unique_ptr<rocksdb::Iterator> rows{database->db().NewIterator({}, table)};
        int left = 0;
        for (rows->SeekToFirst(); rows->Valid(); rows->Next()) {
            ++left;
        }
        EXPECT_EQ(left, 100);
    }
}

// As folders were written before ADR 21: sorted level by level, with filters in parts.
rocksdb::ColumnFamilyOptions levelled() {
    rocksdb::BlockBasedTableOptions blocks;
    blocks.filter_policy.reset(rocksdb::NewRibbonFilterPolicy(14, 3));
    blocks.optimize_filters_for_memory = true;
    blocks.index_type = rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
    blocks.partition_filters = true;
    blocks.format_version = 5;
    rocksdb::ColumnFamilyOptions options;
    options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(blocks));
    options.compression = rocksdb::kLZ4Compression;
    options.max_bytes_for_level_base = 100'000;  // So that few rows fill several levels.
    options.target_file_size_base = 50'000;
    return options;
}

class RocksLevels : public RocksFolder {
protected:
    // Writes slots the old way: some files for each round, all but the last sorted into levels.
    void write_levelled(int round) const {
        std::vector<rocksdb::ColumnFamilyDescriptor> families;
        for (const char* name : {"default", "slots", "past", "counts"}) {
            families.emplace_back(name, levelled());
        }
        std::vector<rocksdb::ColumnFamilyHandle*> handles;
        rocksdb::DB* raw = nullptr;
        ASSERT_TRUE(rocksdb::DB::Open({}, path_, families, &handles, &raw).ok());
        const std::unique_ptr<rocksdb::DB> db{raw};
        for (int i = 0; i < kInRound; ++i) {
            const std::string id = id_of(round, i);
            const Slot slot{event(id), ConfigId{1}, kNoon, kNoon, kNoon};
            ASSERT_TRUE(db->Put({}, handles[1], id, rocks::encode_slot(slot)).ok());
            if (i % 1'000 == 999) {
                ASSERT_TRUE(db->Flush({}, handles[1]).ok());
            }
        }
        int levels = 0;
        rocksdb::ColumnFamilyMetaData files;
        db->GetColumnFamilyMetaData(handles[1], &files);
        for (const auto& level : files.levels) {
            levels += level.files.empty() ? 0 : 1;
        }
        EXPECT_GT(levels, 1);
        for (rocksdb::ColumnFamilyHandle* handle : handles) {
            ASSERT_TRUE(db->DestroyColumnFamilyHandle(handle).ok());
        }
    }
    static std::string id_of(int round, int i) {
        return std::to_string((i * 7'919 + 13) % 99'991) + "-" + std::to_string(round) + "-" +
               std::to_string(i);
    }
    void expect_round(SlotTables& tables, int round) const {
        std::vector<std::string> ids;
        for (int i = 0; i < kInRound; ++i) {
            ids.push_back(id_of(round, i));
        }
        std::ranges::sort(ids);
        const std::vector<std::string_view> views{ids.begin(), ids.end()};
        const auto found = tables.find(views).value();
        EXPECT_EQ(std::ranges::count_if(found, [](const auto& slot) { return slot.has_value(); }), kInRound);
    }
    void commit_round(SlotTables& tables, int round) const {
        SlotChanges changes;
        for (int i = 0; i < kInRound; ++i) {
            changes.slots.push_back({event(id_of(round, i)), ConfigId{1}, kNoon, kNoon, kNoon});
        }
        ASSERT_TRUE(tables.commit(changes));
    }

    static constexpr int kInRound = 20'000;
};

TEST_F(RocksLevels, OfAnOlderVersionAreReadAndMergedWithWhatIsNew) {
    make();
    write_levelled(1);
    {
        const auto tables = open().value();
        expect_round(*tables, 1);
        commit_round(*tables, 2);
    }
    {
        const auto database = rocks::Database::open({.path = path_}, {slots_}).value();
        const auto table = slots_->table(*database, rocks::SlotTable::Slots);
        ASSERT_TRUE(database->db().CompactRange({}, table, nullptr, nullptr).ok());
    }

    const auto tables = open().value();
    expect_round(*tables, 1);
    expect_round(*tables, 2);
    EXPECT_TRUE(tables->verify());
}

TEST_F(RocksLevels, OfAnOlderVersionCanBeHadBack) {
    make();
    write_levelled(1);
    commit_round(*open().value(), 2);

    write_levelled(3);

    const auto tables = open().value();
    expect_round(*tables, 1);
    expect_round(*tables, 2);
    expect_round(*tables, 3);
}

TEST_F(RocksFolder, KeepsItsRowsWhenItIsOpenedAgain) {
    make();
    const auto tables = open().value();

    ASSERT_TRUE(tables->reopen());

    const std::string_view id = "x";
    EXPECT_TRUE(tables->find({&id, 1}).value().front());
}

}  // namespace
}  // namespace sluice::test
