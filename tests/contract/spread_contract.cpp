// Stratified windows, and times gone by that mean the present: what every store promises of both.
#include <algorithm>
#include <set>

#include "contract/slot_store_contract.hpp"

namespace sluice::test {
namespace {

using testing::ElementsAre;

std::vector<Cell> cells_of(const std::vector<Slot>& slots, Duration window_size, Places cells) {
    std::vector<Cell> result;
    for (const Slot& slot : slots) {
        result.push_back(cell_of(slot.scheduled - slot.window_start, window_size, cells));
    }
    return result;
}

// How many times lie in the fullest second that starts anywhere.
std::size_t fullest_second(std::vector<Instant> times) {
    std::ranges::sort(times);
    std::size_t fullest = 0;
    for (auto first = times.begin(), last = first; last != times.end(); ++last) {
        while (*last - *first >= 1s) {
            ++first;
        }
        fullest = std::max(fullest, static_cast<std::size_t>(last - first) + 1);
    }
    return fullest;
}

std::vector<Instant> times_of(const std::vector<Slot>& slots) {
    std::vector<Instant> times;
    for (const Slot& slot : slots) {
        times.push_back(slot.scheduled);
    }
    return times;
}

TEST_P(SlotStoreContract, KeepsTheSpreadAndThePastOfAConfig) {
    put(stratified(placing_past_now(draft("a", 4096, 5s))));
    put(draft("b", 5000, 5s));
    world_->restart();

    const auto kept = must(store().active_config(config("a")));
    EXPECT_EQ(kept.terms.spread, Spread::Stratified);
    EXPECT_EQ(kept.terms.past, Past::Now);
    const auto usual = must(store().active_config(config("b")));
    EXPECT_EQ(usual.terms.spread, Spread::Random);
    EXPECT_EQ(usual.terms.past, Past::AsSent);
}

TEST_P(SlotStoreContract, PutsEachEventOfAStratifiedWindowIntoACellOfItsOwn) {
    put(stratified(draft("a", 30, 1s)));

    const auto slots = take_many(95, "x", "a", SlotAsk{kNoon + 500ms});

    EXPECT_THAT(counts("a", kNoon, 5), ElementsAre(15, 30, 30, 20, 0));
    std::set<std::pair<Instant, Cell>> taken;
    const auto cells = cells_of(slots, 1s, 30);
    for (std::size_t i = 0; i < slots.size(); ++i) {
        taken.emplace(slots[i].window_start, cells[i]);
        EXPECT_GE(slots[i].scheduled, kNoon + 500ms);
    }
    EXPECT_EQ(taken.size(), slots.size());
    EXPECT_LE(fullest_second(times_of(slots)), 31U);
}

TEST_P(SlotStoreContract, KeepsCellsOverARestart) {
    put(stratified(draft("a", 20, 2s)));
    auto slots = take_many(10, "x", "a", SlotAsk{kNoon});
    world_->restart();
    for (const Slot& slot : take_many(10, "y", "a", SlotAsk{kNoon})) {
        slots.push_back(slot);
    }

    auto cells = cells_of(slots, 2s, 20);
    std::ranges::sort(cells);
    EXPECT_TRUE(std::ranges::adjacent_find(cells) == cells.end());
}

TEST_P(SlotStoreContract, GivesBackTheCellOfWhatIsCancelledOrMoved) {
    put(stratified(draft("a", 8, 1s)));
    const auto slots = take_many(8, "x", "a", SlotAsk{kNoon});
    const auto cells = cells_of(slots, 1s, 8);

    must(run(CancelSlot{event("x3")}));
    EXPECT_EQ(cells_of({take("y", "a", SlotAsk{kNoon})}, 1s, 8).front(), cells[3]);
    must(run(MoveSlot{event("x5"), kNoon + 10s}));
    EXPECT_EQ(cells_of({take("z", "a", SlotAsk{kNoon})}, 1s, 8).front(), cells[5]);
    EXPECT_EQ(take("w", "a", SlotAsk{kNoon}).window_start, kNoon + 1s);
}

TEST_P(SlotStoreContract, AWeightTakesThatManyCellsAndGivesThemBack) {
    put(stratified(draft("a", 10, 1s)));
    const Slot heavy = take("heavy", "a", SlotAsk{kNoon, 4});
    const Cell first = cells_of({heavy}, 1s, 10).front();
    ASSERT_LE(first, 6);

    const auto singles = cells_of(take_many(6, "x", "a", SlotAsk{kNoon}), 1s, 10);
    const std::set<Cell> apart{singles.begin(), singles.end()};
    EXPECT_EQ(apart.size(), 6U);
    for (Cell cell = first; cell < first + 4; ++cell) {
        EXPECT_FALSE(apart.contains(cell)) << "the heavy one begins at " << first;
    }
    must(run(CancelSlot{event("heavy")}));
    auto again = cells_of(take_many(4, "y", "a", SlotAsk{kNoon}), 1s, 10);
    std::ranges::sort(again);
    const int from = first;
    EXPECT_THAT(again, ElementsAre(from, from + 1, from + 2, from + 3));
}

TEST_P(SlotStoreContract, AWeightTakesCellsApartWhenNoneAreTogether) {
    put(stratified(draft("a", 6, 1s)));
    const auto slots = take_many(6, "x", "a", SlotAsk{kNoon});
    const auto cells = cells_of(slots, 1s, 6);
    const auto at_cell = [&](Cell cell) { return std::ranges::find(cells, cell) - cells.begin(); };
    must(run(CancelSlot{event("x" + std::to_string(at_cell(1)))}));
    must(run(CancelSlot{event("x" + std::to_string(at_cell(4)))}));

    const Slot heavy = take("heavy", "a", SlotAsk{kNoon, 2});

    EXPECT_EQ(heavy.window_start, kNoon);
    EXPECT_EQ(cells_of({heavy}, 1s, 6).front(), 1);
    must(run(CancelSlot{event("heavy")}));
    EXPECT_EQ(take_many(2, "y", "a", SlotAsk{kNoon})[1].window_start, kNoon);
}

TEST_P(SlotStoreContract, AWindowFilledUnderAnotherCapFallsBackToRandom) {
    put(stratified(draft("a", 5, 1s)));
    take_many(5, "x", "a", SlotAsk{kNoon});
    put(stratified(draft("a", 9, 1s)));

    take_many(13, "y", "a", SlotAsk{kNoon});

    EXPECT_THAT(counts("a", kNoon, 3), ElementsAre(9, 9, 0));
}

TEST_P(SlotStoreContract, ARandomConfigOfThePoolTakesTheCellsAway) {
    put(sharing("p", stratified(draft("even", 6, 1s))));
    put(sharing("p", draft("random", 6, 1s)));
    take_many(2, "x", "even", SlotAsk{kNoon});
    take_many(2, "y", "random", SlotAsk{kNoon});
    take_many(4, "z", "even", SlotAsk{kNoon});

    EXPECT_THAT(counts("even", kNoon, 3), ElementsAre(6, 2, 0));
    must(run(CancelSlot{event("x0")}));
    must(run(CancelSlot{event("y1")}));
    take_many(2, "w", "even", SlotAsk{kNoon});
    EXPECT_THAT(counts("even", kNoon, 3), ElementsAre(6, 2, 0));
}

TEST_P(SlotStoreContract, NoFreeCellWithinTheLongestDelayIsNoRoom) {
    put(stratified(draft("a", 10, 1s)));
    const SlotAsk hurried{kNoon, 1, 99ms};
    EXPECT_LE(take("x", "a", hurried).scheduled, kNoon + 99ms);

    EXPECT_EQ(fault_of(assign("y", "a", hurried)), SlotFault::Exhausted);

    EXPECT_EQ(take("z", "a", SlotAsk{kNoon, 1, 1s + 50ms}).window_start, kNoon);
    EXPECT_LE(take("y", "a", SlotAsk{kNoon + 1s, 1, 99ms}).scheduled, kNoon + 1s + 99ms);
}

TEST_P(SlotStoreContract, AGroupThatIsRefusedLeavesTheCellsAsTheyWere) {
    put(sharing("p", looking_ahead(0, stratified(draft("even", 6, 1s)))));
    put(sharing("p", looking_ahead(0, draft("random", 6, 1s))));
    const auto before = take_many(3, "x", "even", SlotAsk{kNoon});

    for (const std::string_view name : {"even", "random"}) {
        AssignAll all;
        for (std::size_t i = 0; i < 4; ++i) {
            all.events.push_back(assign("all" + std::to_string(i), name, SlotAsk{kNoon}));
        }
        EXPECT_FALSE(run_all(store(), all));
    }

    auto slots = take_many(3, "y", "even", SlotAsk{kNoon});
    slots.insert(slots.end(), before.begin(), before.end());
    auto cells = cells_of(slots, 1s, 6);
    std::ranges::sort(cells);
    EXPECT_THAT(cells, ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST_P(SlotStoreContract, AMoveThatIsRefusedKeepsItsCells) {
    put(looking_ahead(0, stratified(draft("a", 4, 1s))));
    take_many(2, "x", "a", SlotAsk{kNoon});
    const Slot heavy = take("heavy", "a", SlotAsk{kNoon, 2});
    take_many(3, "y", "a", SlotAsk{kNoon + 1s});

    EXPECT_EQ(fault_of(MoveSlot{event("heavy"), kNoon + 1s}), SlotFault::Exhausted);

    EXPECT_EQ(must(store().find(event("heavy"))).slot, heavy);
    EXPECT_EQ(fault_of(assign("z", "a", SlotAsk{kNoon})), SlotFault::Exhausted);
}

// The store's clock stands at an hour before noon.
TEST_P(SlotStoreContract, PlacesATimeGoneByAsSentUnlessToldOtherwise) {
    put(draft("a", 2, 1s));

    EXPECT_EQ(take("x", "a", SlotAsk{kNoon - 2h}).window_start, kNoon - 2h);
}

TEST_P(SlotStoreContract, PlacesATimeGoneByAsIfAskedForNow) {
    put(placing_past_now(draft("a", 50, 1s)));
    const Instant now = around_.clock.now();
    const Instant late = now - 2min;

    const auto slots = take_many(8000 / GetParam().round_trips, "x", "a", SlotAsk{late});

    for (const Slot& slot : slots) {
        ASSERT_GE(slot.scheduled, now);
        ASSERT_EQ(slot.requested, late);
        ASSERT_EQ(slot.delay(), slot.scheduled - late);
    }
    EXPECT_EQ(take("future", "a", SlotAsk{kNoon}).window_start, kNoon);
    EXPECT_EQ(take("x0", "a", SlotAsk{late}), slots.front());
    EXPECT_EQ(must(run(MoveSlot{event("future"), late})).slot.requested, late);
    EXPECT_GE(must(store().find(event("future"))).slot.scheduled, now);
    EXPECT_GE(must(store().quote({std::nullopt, config("a"), SlotAsk{late}})).scheduled, now);
}

TEST_P(SlotStoreContract, CountsItsBoundsFromNowForATimeGoneBy) {
    put(looking_ahead(1, placing_past_now(draft("a", 3, 1min))));
    around_.clock.advance(30s);
    const Instant now = around_.clock.now();

    const Slot slot = take("x", "a", SlotAsk{now - 1h, 1, 10s});
    EXPECT_GE(slot.scheduled, now);
    EXPECT_LE(slot.scheduled, now + 11s);  // The time that was told a second ago is good enough.
    for (const Slot& next : take_many(3, "y", "a", SlotAsk{now - 1h})) {
        EXPECT_EQ(next.window_start, now + 30s);
    }
    EXPECT_EQ(fault_of(assign("z", "a", SlotAsk{now - 1h})), SlotFault::Exhausted);
}

}  // namespace
}  // namespace sluice::test
