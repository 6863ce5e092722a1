// Two sets of tables in one folder: slots, and a small trial set that slots know nothing of.
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rocksdb/compaction_filter.h>
#include <rocksdb/db.h>
#include <rocksdb/merge_operator.h>

#include "store/rocks/slots/rocks_slot_tables.hpp"
#include "support/faulty_files.hpp"
#include "support/slot_words.hpp"
#include "support/temp_folder.hpp"

namespace sluice::test {
namespace {

namespace fs = std::filesystem;
using rocks::Batch;
using rocks::Database;
using rocks::Folder;

// Drops rows whose value is "old".
class DropOld final : public rocksdb::CompactionFilter {
public:
    const char* Name() const override { return "trial.DropOld"; }
    bool Filter(int /*level*/, const rocksdb::Slice& /*key*/, const rocksdb::Slice& value,
                std::string* /*changed*/, bool* /*is_changed*/) const override {
        return value == "old";
    }
};
class DropOldFactory final : public rocksdb::CompactionFilterFactory {
public:
    const char* Name() const override { return "trial.DropOldFactory"; }
    std::unique_ptr<rocksdb::CompactionFilter> CreateCompactionFilter(
        const rocksdb::CompactionFilter::Context& /*context*/) override {
        return std::make_unique<DropOld>();
    }
};

class Append final : public rocksdb::AssociativeMergeOperator {
public:
    const char* Name() const override { return "trial.Append"; }
    bool Merge(const rocksdb::Slice& /*key*/, const rocksdb::Slice* before, const rocksdb::Slice& value,
               std::string* after, rocksdb::Logger* /*logger*/) const override {
        *after = (before == nullptr ? "" : before->ToString()) + value.ToString();
        return true;
    }
};

class TrialSet final : public rocks::TableSet {
public:
    [[nodiscard]] std::vector<rocks::TableDraft> tables() const override {
        return {{.name = "trial", .filter = std::make_shared<DropOldFactory>()},
                {.name = "trial_sums", .merge = std::make_shared<Append>()}};
    }
    Result<void, StoreError> opened(const Database& database) override {
        ++openings;
        return get(database, "unfit")
                   ? Result<void, StoreError>{Unexpected{StoreError{"a trial row is unfit"}}}
                   : Result<void, StoreError>{};
    }

    void add(Batch& batch, std::string_view key, std::string_view value) const {
        batch.put(batch.database().tables_of(*this)[0], key, value);
        batch.merge(batch.database().tables_of(*this)[1], key, value);
    }
    [[nodiscard]] std::optional<std::string> get(const Database& database, std::string_view key,
                                                 std::size_t table = 0) const {
        std::string value;
        const auto found = database.db().Get({}, database.tables_of(*this)[table], std::string{key}, &value);
        EXPECT_TRUE(found.ok() || found.IsNotFound()) << found.ToString();
        return found.ok() ? std::optional{value} : std::nullopt;
    }

    int openings = 0;
};

SlotChanges one_slot(std::string_view id) {
    SlotChanges changes;
    changes.slots.push_back({event(id), ConfigId{1}, kNoon, kNoon, kNoon + 5ms});
    changes.counts.push_back({PoolId{1}, 7, {1}});
    return changes;
}

// A folder with both sets, and the slots in it.
struct Both {
    std::shared_ptr<rocks::SlotTableSet> slot_set = std::make_shared<rocks::SlotTableSet>();
    std::shared_ptr<TrialSet> trial = std::make_shared<TrialSet>();
    std::shared_ptr<Folder> folder;
    std::unique_ptr<SlotTables> slots;

    // False when the files do not let it start.
    bool open(const RocksPlace& place) {
        auto opened = Folder::open(place, {slot_set, trial});
        if (opened) {
            folder = std::move(*opened);
            slots = make_rocks_slot_tables(folder, slot_set);
        }
        return opened.has_value();
    }
    void close() {
        slots.reset();
        folder.reset();
    }

    // A slot and a row of the other set, in one batch.
    Result<void, StoreError> store(std::string_view id) const {
        auto batch = folder->begin();
        if (!batch) {
            return Unexpected{batch.error()};
        }
        slot_set->add(*batch, one_slot(id));
        trial->add(*batch, id, "of " + std::string{id});
        return batch->commit();
    }
    [[nodiscard]] bool has_slot(std::string_view id) const {
        return slots->find({&id, 1}).value().front().has_value();
    }
    [[nodiscard]] bool has_trial(std::string_view id) const {
        return trial->get(**folder->database(), id) == "of " + std::string{id};
    }
    [[nodiscard]] bool has_both(std::string_view id) const { return has_slot(id) && has_trial(id); }
    [[nodiscard]] bool has_neither(std::string_view id) const { return !has_slot(id) && !has_trial(id); }
};

class RocksSets : public testing::Test {
protected:
    void make() {
        Both both;
        ASSERT_TRUE(both.open({path_}));
        ASSERT_TRUE(both.store("x"));
    }

    TempFolder temp_;
    std::string path_ = temp_ / "data";
};

TEST_F(RocksSets, KeepTheirRowsInOneFolder) {
    make();
    Both both;

    ASSERT_TRUE(both.open({path_}));

    EXPECT_TRUE(both.has_both("x"));
    EXPECT_TRUE(both.folder->verify());
}

TEST_F(RocksSets, AreAddedToAFolderThatHasSlotsAlready) {
    ASSERT_TRUE(open_rocks_slot_tables({path_}).value()->commit(one_slot("before")));
    Both both;

    ASSERT_TRUE(both.open({path_}));

    EXPECT_TRUE(both.has_slot("before"));
    ASSERT_TRUE(both.store("x"));
    EXPECT_TRUE(both.has_both("x"));
}

// The rows of a batch belong together: whoever went on with some of them would leave the others wrong.
TEST_F(RocksSets, AreNotOpenedWithoutOneOfThem) {
    make();

    const auto opened = open_rocks_slot_tables({path_});

    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().what,
              "the folder " + path_ + " has tables that this Sluice does not know: trial, trial_sums");
    EXPECT_EQ(opened.error().advice, "Use the version of Sluice that wrote the folder, or a newer one.");
    Both both;
    ASSERT_TRUE(both.open({path_}));
    EXPECT_TRUE(both.has_both("x"));
}

TEST_F(RocksSets, HearOfEachOpening) {
    Both both;
    ASSERT_TRUE(both.open({path_}));
    ASSERT_TRUE(both.store("x"));
    EXPECT_EQ(both.trial->openings, 1);

    ASSERT_TRUE(both.folder->reopen());

    EXPECT_EQ(both.trial->openings, 2);
    EXPECT_TRUE(both.has_both("x"));
}

TEST_F(RocksSets, CanRefuseWhatTheyFind) {
    {
        Both both;
        ASSERT_TRUE(both.open({path_}));
        ASSERT_TRUE(both.store("unfit"));
    }
    const auto opened =
        Folder::open({path_}, {std::make_shared<rocks::SlotTableSet>(), std::make_shared<TrialSet>()});

    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().what, "a trial row is unfit");
}

TEST_F(RocksSets, HaveFiltersAndMergesOfTheirOwn) {
    Both both;
    ASSERT_TRUE(both.open({path_}));
    for (const char* value : {"new", "old"}) {
        Batch batch = both.folder->begin().value();
        both.trial->add(batch, "key", value);
        both.trial->add(batch, std::string{"key of "} + value, value);
        ASSERT_TRUE(batch.commit());
    }
    const auto database = both.folder->database().value();
    ASSERT_TRUE(database->db().CompactRange({}, database->tables_of(*both.trial)[0], nullptr, nullptr).ok());

    EXPECT_EQ(both.trial->get(*database, "key of new"), "new");
    EXPECT_EQ(both.trial->get(*database, "key of old"), std::nullopt);
    EXPECT_EQ(both.trial->get(*database, "key", 1), "newold");
}

// As a kill leaves the folder, with the last write cut off at every byte.
TEST_F(RocksSets, HaveAllOrNothingOfABatchThatWasCutOff) {
    Both both;
    ASSERT_TRUE(both.open({temp_ / "live"}));
    ASSERT_TRUE(both.store("x"));
    const auto log_in = [](const fs::path& folder) {
        std::vector<fs::path> logs;
        for (const auto& entry : fs::directory_iterator{folder}) {
            if (entry.path().extension() == ".log") {
                logs.push_back(entry.path());
            }
        }
        return *std::ranges::max_element(logs);
    };
    const auto before = fs::file_size(log_in(temp_ / "live"));
    ASSERT_TRUE(both.store("y"));
    const auto after = fs::file_size(log_in(temp_ / "live"));
    ASSERT_GT(after, before + 100);
    std::size_t whole = 0;

    for (auto size = before; size <= after; ++size) {
        SCOPED_TRACE(std::to_string(size - before) + " bytes of it");
        fs::remove_all(path_);
        fs::copy(temp_ / "live", path_, fs::copy_options::recursive);
        fs::remove(fs::path{path_} / "HIGHWATER");  // Nobody was answered yet.
        fs::resize_file(log_in(path_), size);
        Both killed;
        ASSERT_TRUE(killed.open({path_}));
        ASSERT_TRUE(killed.has_both("x"));
        ASSERT_TRUE(killed.has_both("y") || killed.has_neither("y"));
        whole += killed.has_both("y") ? 1U : 0U;
    }
    EXPECT_EQ(whole, 1U);
}

// A write or a sync fails: both rows are there after the folder was opened again, or neither is.
TEST_F(RocksSets, HaveAllOrNothingOfABatchThatFailed) {
    for (const FileCall call : {FileCall::Append, FileCall::Sync}) {
        FaultyFiles files;
        Both both;
        ASSERT_TRUE(both.open({.path = "/disk/data", .env = files.env(), .reserve = 70'000'000}));
        ASSERT_TRUE(both.store("x"));
        files.arm({call, 1});

        ASSERT_FALSE(both.store("y"));
        files.heal();

        ASSERT_TRUE(both.folder->reopen());
        EXPECT_TRUE(both.has_both("x"));
        EXPECT_TRUE(both.has_both("y") || both.has_neither("y"));
        ASSERT_TRUE(both.store("z"));
        EXPECT_TRUE(both.has_both("z"));
    }
}

// Nothing can be stored in what was closed: the rows would be gone.
TEST_F(RocksSets, CannotUseAFolderThatIsClosed) {
    FaultyFiles files;
    Both both;
    ASSERT_TRUE(both.open({.path = "/disk/data", .env = files.env(), .reserve = 70'000'000}));
    files.arm({FileCall::Append, 1, Lasting::UntilHealed});
    ASSERT_FALSE(both.store("x"));
    ASSERT_FALSE(both.folder->reopen());

    EXPECT_EQ(both.store("y").error().what, "the database is closed");
    EXPECT_FALSE(both.folder->database());
    EXPECT_FALSE(both.folder->verify());
    files.heal();
    ASSERT_TRUE(both.folder->reopen());
    EXPECT_TRUE(both.store("y"));
}

}  // namespace
}  // namespace sluice::test
