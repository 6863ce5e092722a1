// Folders that earlier versions have left are read as they are, and gone on with. tests/fault/samples has one
// of each format. That of format 3: written by a server that was stopped, started again and killed, so that
// it has rows in files and in the log.
#include <array>
#include <filesystem>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rocksdb/db.h>

#include "app/slots/slot_ledger.hpp"
#include "store/rocks/slots/rocks_slot_tables.hpp"
#include "store/rocks/slots/slot_codec.hpp"
#include "support/counting_metrics.hpp"
#include "support/hand_clock.hpp"
#include "support/recording_log.hpp"
#include "support/slot_words.hpp"
#include "support/temp_folder.hpp"

namespace sluice::test {
namespace {

namespace fs = std::filesystem;
using testing::IsEmpty;
using testing::SizeIs;

// What the server that wrote it has answered.
struct Answered {
    const char* event;
    const char* scheduled;
    const char* window;
    Places weight = 1;
    std::uint32_t revision = 0;
    SlotState state = SlotState::Assigned;
};
constexpr auto kAnswered = std::to_array<Answered>({
    {"p1", "2036-01-01T00:00:00.500Z", "2036-01-01T00:00:00.000Z"},
    {"p2", "2036-01-01T00:00:00.494Z", "2036-01-01T00:00:00.000Z", 1, 1, SlotState::Cancelled},
    {"p3", "2036-01-01T01:00:00.939Z", "2036-01-01T01:00:00.000Z", 1, 1},
    {"p4", "2036-01-01T00:00:01.739Z", "2036-01-01T00:00:01.000Z"},
    {"p5", "2036-01-01T00:00:01.914Z", "2036-01-01T00:00:01.000Z"},
    {"heavy", "2036-01-01T00:00:02.923Z", "2036-01-01T00:00:02.000Z", 2},
    {"e1", "2036-01-01T00:00:02.757Z", "2036-01-01T00:00:00.000Z"},
    {"e2", "2036-01-01T00:00:03.569Z", "2036-01-01T00:00:00.000Z"},
    {"late", "2036-01-01T00:00:00.051Z", "2036-01-01T00:00:00.000Z"},
});

class RocksSample : public testing::Test {
protected:
    void SetUp() override {
        fs::copy(fs::path{SLUICE_SAMPLES} / "format3", path_, fs::copy_options::recursive);
    }

    [[nodiscard]] std::unique_ptr<SlotTables> open() const { return open_rocks_slot_tables({path_}).value(); }
    std::unique_ptr<SlotStore> start() { return make_slot_ledger(open(), {}, {clock_, metrics_, log_}); }
    // The format, and how many rows of slots have which version.
    struct Look {
        std::uint32_t format = 0;
        std::map<rocks::RecordVersion, std::size_t> rows{};

        bool operator==(const Look&) const = default;
    };
    [[nodiscard]] Look look() const {
        const auto set = std::make_shared<rocks::SlotTableSet>();
        const auto database = rocks::Database::open({path_}, {set}).value();
        Look look{database->format()};
        const std::unique_ptr<rocksdb::Iterator> rows{
            database->db().NewIterator({}, set->table(*database, rocks::SlotTable::Slots))};
        for (rows->SeekToFirst(); rows->Valid(); rows->Next()) {
            ++look.rows[rocks::read_record(rows->value().ToStringView()).version];
        }
        return look;
    }
    void expect_right(std::size_t slots) const {
        const auto counted = recount(*open());
        ASSERT_TRUE(counted) << counted.error().what;
        EXPECT_THAT(counted->differences, IsEmpty());
        EXPECT_EQ(counted->slots, slots);
    }
    static void expect_answers(SlotStore& store) {
        for (const Answered& one : kAnswered) {
            SCOPED_TRACE(one.event);
            const auto found = store.find(event(one.event));
            ASSERT_TRUE(found);
            EXPECT_EQ(found->slot.scheduled, at(one.scheduled));
            EXPECT_EQ(found->slot.window_start, at(one.window));
            EXPECT_EQ(
                found->slot.requested,
                at(one.event == std::string_view{"p3"} ? "2036-01-01T01:00:00Z" : "2036-01-01T00:00:00Z"));
            EXPECT_EQ(found->slot.weight, one.weight);
            EXPECT_EQ(found->slot.revision, one.revision);
            EXPECT_EQ(found->slot.state, one.state);
            EXPECT_THAT(found->past, SizeIs(one.revision));
        }
    }

    static constexpr std::size_t kSlots = kAnswered.size();
    TempFolder temp_;
    std::string path_ = temp_ / "data";
    HandClock clock_{at("2035-12-31T00:00:00Z")};
    CountingMetrics metrics_;
    RecordingLog log_;
};

TEST_F(RocksSample, IsReadAsItIs) {
    const auto store = start();

    expect_answers(*store);
    EXPECT_EQ(store->find(event("heavy"))->slot.max_delay, 30s);
    EXPECT_THAT(store->config_history(config("plain")).value(), SizeIs(2));
    const ConfigVersion plain = store->active_config(config("plain")).value();
    EXPECT_EQ(plain.terms.max_per_window, 3U);
    EXPECT_EQ(plain.terms.max_lookahead, 100);
    const ConfigVersion even = store->active_config(config("even")).value();
    EXPECT_EQ(even.terms.spread, Spread::Stratified);
    EXPECT_EQ(even.terms.past, Past::Now);
    EXPECT_EQ(even.terms.window_size, 4s);
}

TEST_F(RocksSample, IsCountedRight) {
    expect_right(kSlots);
    EXPECT_GT(open()->load_configs()->horizon, Instant{});
    EXPECT_TRUE(open()->verify());
}

// Nothing in it becomes unreadable for the program that wrote it.
TEST_F(RocksSample, IsGoneOnWithAsItIs) {
    {
        const auto store = start();
        for (const char* name : {"plain", "even"}) {
            for (int i = 0; i < 7; ++i) {
                ASSERT_TRUE(run_one(*store, assign(std::string{name} + std::to_string(i), name,
                                                   SlotAsk{at("2036-01-01T00:00:00Z")})));
            }
        }
        ASSERT_TRUE(run_one(*store, CancelSlot{event("p1")}));
        ASSERT_TRUE(run_one(*store, MoveSlot{event("p4"), at("2036-01-01T02:00:00Z")}));
        ASSERT_TRUE(store->put_config(draft("another", 5, 1s)));
        EXPECT_EQ(run_one(*store, assign("p2", "plain", SlotAsk{kNoon})).error().fault, SlotFault::Cancelled);
    }

    expect_right(kSlots + 14);
    EXPECT_EQ(look(), (Look{3, {{1, kSlots + 14}}}));
}

TEST_F(RocksSample, GetsRowsWithAVersionWithWhatIsNew) {
    {
        const auto store = start();
        ASSERT_TRUE(store->put_config(stratified(draft("fresh", 5, 1s))));
        for (const char* name : {"plain", "even", "fresh"}) {
            ASSERT_TRUE(
                run_one(*store, assign(std::string{name} + "+", name, SlotAsk{at("2036-01-01T00:00:00Z")})));
        }
        expect_answers(*store);
        ASSERT_TRUE(run_one(*store, MoveSlot{event("p4"), at("2036-01-01T02:00:00Z")}));
    }

    expect_right(kSlots + 3);
    EXPECT_EQ(look(), (Look{rocks::kFormatVersion, {{1, kSlots - 1}, {2, 4}}}));
}

}  // namespace
}  // namespace sluice::test
