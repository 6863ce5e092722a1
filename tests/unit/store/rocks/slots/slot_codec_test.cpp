#include "store/rocks/slots/slot_codec.hpp"

#include <functional>
#include <limits>

#include <gtest/gtest.h>

#include "base/bytes.hpp"
#include "support/slot_words.hpp"

namespace sluice::rocks {
namespace {

using namespace sluice::test;

Slot plain_slot() { return {event("e"), ConfigId{7}, kNoon, kNoon + 4s, kNoon + 5s}; }

Slot full_slot() {
    Slot slot{event("e"), ConfigId{0xFFFFFFFF}, kNoon, kNoon + 4s, kNoon + 5s, 1'000'000'000, 31 * 24h};
    slot.state = SlotState::Cancelled;
    slot.revision = 0xFFFFFFFF;
    slot.since = at("9999-12-31T23:59:59.999Z");
    return slot;
}

ConfigVersion plain_config() { return {ConfigId{3}, draft("a", 50, 4s), kNoon}; }

ConfigVersion full_config() {
    ConfigVersion version{ConfigId{4}, draft("b", 1'000'000'000, kDurationMax), kNoon, false};
    version.terms.pool = pool(std::string(PoolName::kBytesMax, 'p'));
    version.terms.max_lookahead = std::numeric_limits<std::int64_t>::max();
    version.terms.spread = Spread::Stratified;
    version.terms.past = Past::Now;
    return version;
}

// Decoding must fail for every shorter and for a longer text.
template <class Decode>
void expect_only_whole(const std::string& bytes, Decode decode) {
    for (std::size_t length = 0; length < bytes.size(); ++length) {
        EXPECT_FALSE(decode(std::string_view{bytes}.substr(0, length))) << length << " bytes";
    }
    EXPECT_TRUE(decode(bytes));
    EXPECT_FALSE(decode(bytes + '\0'));
    EXPECT_FALSE(decode(bytes + "x"));
}

TEST(SlotCodec, ReadsBackASlot) {
    for (const Slot& slot : {plain_slot(), full_slot()}) {
        const auto decoded = decode_slot("e", encode_slot(slot));

        ASSERT_TRUE(decoded);
        EXPECT_EQ(*decoded, slot);
    }
}

TEST(SlotCodec, RefusesASlotThatIsCutShortOrTooLong) {
    expect_only_whole(encode_slot(full_slot()),
                      [](std::string_view bytes) { return decode_slot("e", bytes); });
}

TEST(SlotCodec, RefusesASlotUnderAnImpossibleName) {
    EXPECT_FALSE(decode_slot("", encode_slot(plain_slot())));
    EXPECT_FALSE(decode_slot("a\nb", encode_slot(plain_slot())));
    EXPECT_FALSE(decode_slot(std::string(256, 'x'), encode_slot(plain_slot())));
}

TEST(SlotCodec, RefusesASlotInAnUnknownState) {
    Slot slot = plain_slot();
    for (const int state : {0, 3, 255}) {
        slot.state = static_cast<SlotState>(state);

        EXPECT_FALSE(decode_slot("e", encode_slot(slot))) << state;
    }
}

TEST(SlotCodec, SortsPastSlotsByEventAndRevision) {
    EXPECT_LT(past_key(event("a"), 0), past_key(event("a"), 1));
    EXPECT_LT(past_key(event("a"), 255), past_key(event("a"), 256));
    EXPECT_LT(past_key(event("a"), 0xFFFFFFFF), past_key(event("a!"), 0));
    EXPECT_TRUE(past_key(event("a"), 7).starts_with(past_prefix(event("a"))));
    EXPECT_FALSE(past_key(event("ab"), 7).starts_with(past_prefix(event("a"))));
}

TEST(SlotCodec, SortsCountsByPoolAndWindow) {
    EXPECT_LT(count_key(PoolId{1}, 255), count_key(PoolId{1}, 256));
    EXPECT_LT(count_key(PoolId{1}, std::numeric_limits<WindowIndex>::max()), count_key(PoolId{2}, 0));
    EXPECT_EQ(decode_count_key(count_key(PoolId{9}, 435'000'000)), 435'000'000);
}

TEST(SlotCodec, RefusesCountsThatAreCutShortOrTooLong) {
    expect_only_whole(count_key(PoolId{9}, 435'000'000), decode_count_key);
    expect_only_whole(encode_content({17}), decode_places);
}

TEST(SlotCodec, ReadsBackPlaces) {
    for (const Places places : {Places{0}, Places{1}, std::numeric_limits<Places>::max()}) {
        EXPECT_EQ(decode_places(encode_content({places})), places);
    }
}

TEST(SlotCodec, ReadsBackTheCellsOfAWindow) {
    WindowCells cells{5};
    cells.take(std::vector<Cell>{1, 3});
    cells.take(std::vector<Cell>{4});
    const WindowContent content{3, cells};
    const std::string row = encode_content(content);

    EXPECT_EQ(decode_places(row), 3U);
    EXPECT_EQ(decode_content(row), content);
    EXPECT_EQ(decode_content(encode_content({3})), WindowContent{3});
    const std::size_t without_cells = encode_content({3}).size();
    for (std::size_t length = without_cells + 1; length < row.size(); ++length) {
        EXPECT_FALSE(decode_places(row.substr(0, length))) << length << " bytes";
        EXPECT_FALSE(decode_content(row.substr(0, length))) << length << " bytes";
    }
    EXPECT_FALSE(decode_places(row + "xx"));
    EXPECT_FALSE(decode_content(row + "xx"));
}

TEST(SlotCodec, RefusesCellsThatNobodyCanOwn) {
    const auto row = [](const std::vector<Cell>& owners) {
        ByteWriter writer;
        writer.number(Places{1}).number(static_cast<std::uint16_t>(owners.size()));
        for (const Cell owner : owners) {
            writer.number(owner);
        }
        return writer.bytes();
    };

    EXPECT_TRUE(decode_content(row({0, WindowCells::kFree, 0})));
    EXPECT_FALSE(decode_content(row({})));
    EXPECT_FALSE(decode_content(row({1, 1})));
    EXPECT_FALSE(decode_content(row({WindowCells::kFree, 0})));
    EXPECT_FALSE(decode_content(row({0, 7})));
    EXPECT_FALSE(decode_content(row(std::vector<Cell>(kCellsMax + 1, WindowCells::kFree))));
}

void expect_equal(const ConfigVersion& one, const ConfigVersion& other) {
    EXPECT_EQ(one.id, other.id);
    EXPECT_EQ(one.terms.name, other.terms.name);
    EXPECT_EQ(one.terms.max_per_window, other.terms.max_per_window);
    EXPECT_EQ(one.terms.window_size, other.terms.window_size);
    EXPECT_EQ(one.terms.pool, other.terms.pool);
    EXPECT_EQ(one.terms.max_lookahead, other.terms.max_lookahead);
    EXPECT_EQ(one.terms.spread, other.terms.spread);
    EXPECT_EQ(one.terms.past, other.terms.past);
    EXPECT_EQ(one.effective_from, other.effective_from);
    EXPECT_EQ(one.active, other.active);
}

TEST(SlotCodec, ReadsBackAConfig) {
    for (const ConfigVersion& version : {plain_config(), full_config()}) {
        const auto decoded = decode_config(encode_config(version));

        ASSERT_TRUE(decoded);
        expect_equal(*decoded, version);
    }
}

TEST(SlotCodec, KeepsNoLookaheadAndNoneAtAllApart) {
    ConfigVersion version = plain_config();
    version.terms.max_lookahead = 0;

    EXPECT_EQ(decode_config(encode_config(version))->terms.max_lookahead, 0);
    EXPECT_EQ(decode_config(encode_config(plain_config()))->terms.max_lookahead, std::nullopt);
}

TEST(SlotCodec, RefusesAConfigThatIsCutShortOrTooLong) {
    expect_only_whole(encode_config(full_config()), decode_config);
}

TEST(SlotCodec, RefusesAConfigThatNoOneCouldHaveMade) {
    ConfigVersion no_cap = plain_config();
    no_cap.terms.max_per_window = 0;
    ConfigVersion no_window = plain_config();
    no_window.terms.window_size = 0s;

    EXPECT_FALSE(decode_config(encode_config(no_cap)));
    EXPECT_FALSE(decode_config(encode_config(no_window)));
}

TEST(SlotCodec, ReadsBackAPool) {
    const auto decoded = decode_pool(encode_pool({PoolId{5}, pool("p"), 4s}));

    ASSERT_TRUE(decoded);
    EXPECT_EQ(decoded->id, PoolId{5});
    EXPECT_EQ(decoded->name, pool("p"));
    EXPECT_EQ(decoded->window_size, 4s);
}

TEST(SlotCodec, RefusesAPoolThatIsCutShortOrTooLong) {
    expect_only_whole(encode_pool({PoolId{5}, pool("p"), 4s}), decode_pool);
    EXPECT_FALSE(decode_pool(encode_pool({PoolId{5}, pool("p"), 0s})));
}

// Each kind of row, in both versions, and whether it can be read.
struct Kind {
    std::string first;
    std::string second;
    std::function<bool(std::string_view)> reads;
};
std::vector<Kind> every_kind() {
    Slot slot = full_slot();
    slot.config_id = ConfigId{0x00FFFFFF};
    WindowCells cells{5};
    cells.take(std::vector<Cell>{1, 3});
    const WindowContent content{kMaxPerWindowLimit, cells};
    const Pool one{PoolId{5}, pool("p"), 4s};
    return {
        {encode_slot(slot, 1), encode_slot(slot),
         [slot](std::string_view bytes) { return decode_slot("e", bytes) == slot; }},
        {encode_slot(slot, 1), encode_slot(slot),
         [slot](std::string_view bytes) { return forgettable_at(bytes) == slot.scheduled; }},
        {encode_content(content, 1), encode_content(content),
         [content](std::string_view bytes) { return decode_content(bytes) == content; }},
        {encode_content(content, 1), encode_content(content),
         [](std::string_view bytes) { return decode_places(bytes) == kMaxPerWindowLimit; }},
        {encode_config(full_config(), 1), encode_config(full_config()),
         [](std::string_view bytes) {
             const auto config = decode_config(bytes);
             return config && encode_config(*config) == encode_config(full_config());
         }},
        {encode_pool(one, 1), encode_pool(one),
         [one](std::string_view bytes) {
             const auto decoded = decode_pool(bytes);
             return decoded && encode_pool(*decoded) == encode_pool(one);
         }},
        {encode_instant(kNoon, 1), encode_instant(kNoon),
         [](std::string_view bytes) { return decode_instant(bytes) == kNoon; }},
    };
}

TEST(SlotCodec, ReadsWhatWasWrittenWithoutAVersion) {
    for (const Kind& kind : every_kind()) {
        EXPECT_TRUE(kind.reads(kind.first));
        EXPECT_TRUE(kind.reads(kind.second));
        EXPECT_EQ(kind.second, "\x82" + kind.first);
    }
}

// Its bytes may mean something else.
TEST(SlotCodec, RefusesARowOfANewerVersion) {
    for (const Kind& kind : every_kind()) {
        EXPECT_FALSE(kind.reads("\x83" + kind.first));
        EXPECT_FALSE(kind.reads("\xFF" + kind.first));
        EXPECT_FALSE(kind.reads("\x80" + kind.first));
    }
}

TEST(SlotCodec, WritesForAnOlderFormatWhatThatOneReads) {
    EXPECT_EQ(slot_record_for(1), 1);
    EXPECT_EQ(slot_record_for(3), 1);
    EXPECT_EQ(slot_record_for(4), 2);
    EXPECT_EQ(encode_slot(plain_slot(), slot_record_for(3)).size(), 53U);
}

TEST(SlotCodec, TellsANewerRowFromADamagedOne) {
    EXPECT_EQ(
        unreadable_row("slots", "\x83...", kSlotRecord).what,
        "a row of table slots has version 3, written by a newer Sluice; this one reads up to version 2");
    EXPECT_FALSE(unreadable_row("slots", "\x83...", kSlotRecord).advice.empty());
    for (const std::string_view damaged : {"", "...", "\x82...", "\x80..."}) {
        EXPECT_EQ(unreadable_row("slots", damaged, kSlotRecord).what, "a row of table slots cannot be read");
    }
}

}  // namespace
}  // namespace sluice::rocks
