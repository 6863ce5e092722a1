#include <limits>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/memory/memory_slot_tables.hpp"
#include "support/rocks_tables.hpp"
#include "support/slot_words.hpp"
#include "support/temp_folder.hpp"

namespace sluice::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

enum class Kind { Memory, Rocks };

// What every SlotTables promises to the ledger above it.
class SlotTablesContract : public testing::TestWithParam<Kind> {
protected:
    std::unique_ptr<SlotTables> open() {
        return GetParam() == Kind::Memory ? make_memory_slot_tables()
                                          : open_rocks_tables({folder_ / "data"}).value();
    }

    static Slot slot(std::string_view id, std::uint32_t revision = 0) {
        Slot result{event(id), ConfigId{1}, kNoon, kNoon, kNoon + 5ms};
        result.revision = revision;
        return result;
    }
    void commit(const SlotChanges& changes) { ASSERT_TRUE(tables_->commit(changes)); }
    void count(PoolId pool, WindowIndex window, Places places) {
        SlotChanges changes;
        changes.counts.push_back({pool, window, {places}});
        commit(changes);
    }
    std::vector<std::pair<WindowIndex, Places>> counts(PoolId pool, WindowRange range) {
        std::vector<std::pair<WindowIndex, Places>> rows;
        EXPECT_TRUE(tables_->scan_counts(pool, range, [&rows](WindowIndex window, Places places) {
            rows.emplace_back(window, places);
            return true;
        }));
        return rows;
    }
    std::optional<Slot> find(std::string_view id) { return tables_->find({&id, 1}).value().front(); }

    TempFolder folder_;
    std::unique_ptr<SlotTables> tables_ = open();
};

constexpr PoolId kPool{2};
constexpr WindowRange kAll{0, std::numeric_limits<WindowIndex>::max()};

TEST_P(SlotTablesContract, AreEmptyAtFirst) {
    EXPECT_EQ(find("x"), std::nullopt);
    EXPECT_THAT(tables_->past(event("x")).value(), IsEmpty());
    EXPECT_THAT(tables_->load_configs()->configs, IsEmpty());
    EXPECT_THAT(tables_->load_configs()->pools, IsEmpty());
    EXPECT_THAT(counts(kPool, kAll), IsEmpty());
}

TEST_P(SlotTablesContract, FindSlotsInTheOrderOfTheQuestion) {
    SlotChanges changes;
    changes.slots = {slot("a"), slot("c")};
    commit(changes);
    const std::vector<std::string_view> ids{"a", "b", "c", "d"};

    const auto found = tables_->find(ids).value();

    EXPECT_THAT(found, ElementsAre(slot("a"), std::nullopt, slot("c"), std::nullopt));
}

TEST_P(SlotTablesContract, FindManySlotsAtOnce) {
    SlotChanges changes;
    std::vector<std::string> names;
    for (int i = 0; i < 1000; ++i) {
        names.push_back("event " + std::to_string(1000 + i));
        changes.slots.push_back(slot(names.back()));
    }
    commit(changes);

    const auto found = tables_->find(std::vector<std::string_view>(names.begin(), names.end())).value();

    for (std::size_t i = 0; i < names.size(); ++i) {
        ASSERT_EQ(found[i], slot(names[i]));
    }
}

TEST_P(SlotTablesContract, ReplaceASlotAndKeepItsPastInOrder) {
    for (const std::uint32_t from : {0U, 130U}) {
        SlotChanges changes;
        changes.slots = {slot("x", from + 130)};
        for (std::uint32_t revision = from; revision < from + 130; ++revision) {
            changes.past.push_back(slot("x", revision));
        }
        commit(changes);
    }
    SlotChanges other;
    other.past = {slot("x2", 0), slot("w", 0)};
    commit(other);

    const auto past = tables_->past(event("x")).value();

    EXPECT_EQ(find("x")->revision, 260U);
    ASSERT_EQ(past.size(), 260U);
    for (std::uint32_t revision = 0; revision < 260; ++revision) {
        ASSERT_EQ(past[revision].revision, revision);
    }
}

TEST_P(SlotTablesContract, ScanTheCountsOfOnePoolInOrderAndWithinTheRange) {
    for (const WindowIndex window : {300, 5, 256, 255}) {
        count(kPool, window, static_cast<Places>(window));
    }
    count(PoolId{1}, 5, 1);
    count(PoolId{3}, 5, 1);

    EXPECT_THAT(counts(kPool, kAll), ElementsAre(Pair(5, 5), Pair(255, 255), Pair(256, 256), Pair(300, 300)));
    EXPECT_THAT(counts(kPool, {255, 256}), ElementsAre(Pair(255, 255), Pair(256, 256)));
    EXPECT_THAT(counts(kPool, {6, 254}), IsEmpty());
}

TEST_P(SlotTablesContract, StopAScanWhenTold) {
    for (WindowIndex window = 0; window < 10; ++window) {
        count(kPool, window, 1);
    }
    int seen = 0;

    ASSERT_TRUE(tables_->scan_counts(kPool, kAll, [&seen](WindowIndex, Places) { return ++seen < 3; }));

    EXPECT_EQ(seen, 3);
}

TEST_P(SlotTablesContract, DropARowThatCountsNothing) {
    count(kPool, 7, 4);
    count(kPool, 8, 4);

    count(kPool, 7, 0);

    EXPECT_THAT(counts(kPool, kAll), ElementsAre(Pair(8, 4)));
}

TEST_P(SlotTablesContract, DropTheCountsOfAPoolAndNoOthers) {
    for (std::uint32_t pool = 1; pool <= 3; ++pool) {
        count(PoolId{pool}, 0, pool);
        count(PoolId{pool}, 1'000'000'000, pool);
    }
    SlotChanges changes;
    changes.configs = {ConfigVersion{ConfigId{1}, draft("a", 1, 1s), kNoon}};
    changes.dropped_pools = {kPool};

    commit(changes);

    EXPECT_THAT(counts(PoolId{1}, kAll), ElementsAre(Pair(0, 1), Pair(1'000'000'000, 1)));
    EXPECT_THAT(counts(kPool, kAll), IsEmpty());
    EXPECT_THAT(counts(PoolId{3}, kAll), ElementsAre(Pair(0, 3), Pair(1'000'000'000, 3)));
}

TEST_P(SlotTablesContract, KeepConfigsById) {
    SlotChanges changes;
    changes.configs = {ConfigVersion{ConfigId{256}, draft("a", 1, 1s), kNoon},
                       ConfigVersion{ConfigId{3}, draft("a", 2, 1s), kNoon, true}};
    commit(changes);
    changes.configs = {ConfigVersion{ConfigId{3}, draft("a", 2, 1s), kNoon, false}};
    commit(changes);

    const auto loaded = tables_->load_configs().value().configs;

    ASSERT_EQ(loaded.size(), 2U);
    EXPECT_EQ(loaded[0].id, ConfigId{3});
    EXPECT_FALSE(loaded[0].active);
    EXPECT_EQ(loaded[1].id, ConfigId{256});
}

TEST_P(SlotTablesContract, KeepOnePoolPerName) {
    SlotChanges changes;
    changes.pools = {Pool{PoolId{1}, pool("p"), 1s}, Pool{PoolId{2}, pool("q"), 1s}};
    commit(changes);
    changes.pools = {Pool{PoolId{3}, pool("p"), 4s}};
    commit(changes);

    const auto loaded = tables_->load_configs().value().pools;

    std::vector<std::pair<std::string, PoolId>> pools;
    pools.reserve(loaded.size());
    for (const Pool& one : loaded) {
        pools.emplace_back(one.name.text(), one.id);
    }
    EXPECT_THAT(pools, UnorderedElementsAre(Pair("p", PoolId{3}), Pair("q", PoolId{2})));
}

TEST_P(SlotTablesContract, ScanEverySlotOnce) {
    SlotChanges changes;
    changes.slots = {slot("a"), slot("b"), slot("c")};
    changes.past = {slot("a")};
    commit(changes);
    std::vector<std::string> seen;

    ASSERT_TRUE(tables_->scan_slots([&seen](const Slot& one) { seen.push_back(one.event_id.text()); }));

    EXPECT_THAT(seen, UnorderedElementsAre("a", "b", "c"));
}

TEST_P(SlotTablesContract, HoldWhatWasCommittedWhenReopened) {
    SlotChanges changes;
    changes.slots = {slot("a")};
    changes.counts = {{kPool, 7, {1}}};
    commit(changes);

    ASSERT_TRUE(tables_->reopen());

    EXPECT_EQ(find("a"), slot("a"));
    EXPECT_THAT(counts(kPool, kAll), ElementsAre(Pair(7, 1)));
    count(kPool, 8, 2);
    EXPECT_THAT(counts(kPool, kAll), ElementsAre(Pair(7, 1), Pair(8, 2)));
}

INSTANTIATE_TEST_SUITE_P(Tables, SlotTablesContract, testing::Values(Kind::Memory, Kind::Rocks),
                         [](const auto& kind) { return kind.param == Kind::Memory ? "Memory" : "Rocks"; });

}  // namespace
}  // namespace sluice::test
