#include "base/iso8601.hpp"
#include "contract/slot_store_contract.hpp"

namespace sluice::test {
namespace {

using testing::ElementsAre;

TEST_P(SlotStoreContract, CancelsAndGivesThePlaceBack) {
    put(draft("a", 1, 1s));
    const Slot slot = take("x", "a", SlotAsk{kNoon});
    around_.clock.advance(5s);

    const SlotOutcome outcome = run(CancelSlot{event("x")});

    ASSERT_TRUE(outcome);
    EXPECT_FALSE(outcome->repeated);
    EXPECT_EQ(outcome->slot.state, SlotState::Cancelled);
    EXPECT_EQ(outcome->slot.revision, 1U);
    EXPECT_EQ(outcome->slot.since, around_.clock.now());
    EXPECT_THAT(counts("a", kNoon, 1), ElementsAre(0));
    EXPECT_EQ(take("y", "a", SlotAsk{kNoon}).window_start, kNoon);
    EXPECT_THAT(store().find(event("x"))->past, ElementsAre(slot));
}

TEST_P(SlotStoreContract, ChangesNothingWhenCancellingAgain) {
    put(draft("a", 1, 1s));
    take("x", "a", SlotAsk{kNoon});
    const Slot cancelled = run(CancelSlot{event("x")})->slot;
    take("y", "a", SlotAsk{kNoon});
    around_.clock.advance(5s);

    const SlotOutcome again = run(CancelSlot{event("x")});

    ASSERT_TRUE(again);
    EXPECT_TRUE(again->repeated);
    EXPECT_EQ(again->slot, cancelled);
    EXPECT_THAT(counts("a", kNoon, 1), ElementsAre(1));
    EXPECT_EQ(store().find(event("x"))->past.size(), 1U);
}

TEST_P(SlotStoreContract, RefusesACancelledEventForEver) {
    put(draft("a", 1, 1s));
    take("x", "a", SlotAsk{kNoon});
    ASSERT_TRUE(run(CancelSlot{event("x")}));

    EXPECT_EQ(fault_of(assign("x", "a", SlotAsk{kNoon})), SlotFault::Cancelled);
    EXPECT_EQ(fault_of(MoveSlot{event("x"), kNoon + 1h}), SlotFault::Cancelled);
    EXPECT_EQ(store().quote({event("x"), config("a"), SlotAsk{kNoon}}).error().fault, SlotFault::Cancelled);
    EXPECT_EQ(store().find(event("x"))->slot.state, SlotState::Cancelled);
    EXPECT_THAT(counts("a", kNoon, 1), ElementsAre(0));
}

TEST_P(SlotStoreContract, CannotCancelOrMoveWhatItDoesNotKnow) {
    EXPECT_EQ(fault_of(CancelSlot{event("x")}), SlotFault::UnknownEvent);
    EXPECT_EQ(fault_of(MoveSlot{event("x"), kNoon}), SlotFault::UnknownEvent);
}

TEST_P(SlotStoreContract, GivesBackWhatAHeavyEventHeld) {
    put(draft("a", 10, 1s));
    take("x", "a", SlotAsk{kNoon, 7});
    take("y", "a", SlotAsk{kNoon, 2});

    ASSERT_TRUE(run(CancelSlot{event("x")}));

    EXPECT_THAT(counts("a", kNoon, 1), ElementsAre(2));
}

TEST_P(SlotStoreContract, MovesAnEventAndGivesItsPlaceBack) {
    put(draft("a", 1, 1s));
    const Slot before = take("x", "a", SlotAsk{kNoon, 1, 20s});
    around_.clock.advance(5s);

    const SlotOutcome outcome = run(MoveSlot{event("x"), kNoon + 1h});

    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->slot.requested, kNoon + 1h);
    EXPECT_EQ(outcome->slot.window_start, kNoon + 1h);
    EXPECT_EQ(outcome->slot.revision, 1U);
    EXPECT_EQ(outcome->slot.max_delay, 20s);
    EXPECT_EQ(outcome->slot.since, around_.clock.now());
    EXPECT_THAT(counts("a", kNoon, 1), ElementsAre(0));
    EXPECT_THAT(counts("a", kNoon + 1h, 1), ElementsAre(1));
    EXPECT_THAT(store().find(event("x"))->past, ElementsAre(before));
}

TEST_P(SlotStoreContract, AnswersAMovedEventWithItsNewSlot) {
    put(draft("a", 1, 1s));
    take("x", "a", SlotAsk{kNoon});

    const Slot moved = run(MoveSlot{event("x"), kNoon + 1h})->slot;

    EXPECT_EQ(take("x", "a", SlotAsk{kNoon}), moved);
    EXPECT_EQ(store().find(event("x"))->slot, moved);
    EXPECT_EQ(*store().quote({event("x"), config("a"), SlotAsk{kNoon}}), moved);
}

TEST_P(SlotStoreContract, MayMoveAnEventWithinItsFullWindow) {
    put(draft("a", 4, 4s));
    take("x", "a", SlotAsk{kNoon + 1s});
    take_many(3, "full", "a", SlotAsk{kNoon});

    const SlotOutcome outcome = run(MoveSlot{event("x"), kNoon});

    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->slot.window_start, kNoon);
    EXPECT_EQ(outcome->slot.requested, kNoon);
    EXPECT_THAT(counts("a", kNoon, 2), ElementsAre(4, 0));
}

TEST_P(SlotStoreContract, StaysWhereItIsWhenAMoveIsRepeated) {
    put(draft("a", 1, 1s));
    take("x", "a", SlotAsk{kNoon});
    const Slot moved = run(MoveSlot{event("x"), kNoon + 1h})->slot;

    const SlotOutcome again = run(MoveSlot{event("x"), kNoon + 1h});

    ASSERT_TRUE(again);
    EXPECT_TRUE(again->repeated);
    EXPECT_EQ(again->slot, moved);
    EXPECT_EQ(store().find(event("x"))->past.size(), 1U);
}

TEST_P(SlotStoreContract, LeavesEverythingAsItWasWhenAMoveFindsNoPlace) {
    put(looking_ahead(0, draft("a", 1, 1s)));
    const Slot before = take("x", "a", SlotAsk{kNoon});
    take("full", "a", SlotAsk{kNoon + 1h});

    EXPECT_EQ(fault_of(MoveSlot{event("x"), kNoon + 1h}), SlotFault::Exhausted);

    EXPECT_EQ(store().find(event("x"))->slot, before);
    EXPECT_TRUE(store().find(event("x"))->past.empty());
    EXPECT_THAT(counts("a", kNoon, 1), ElementsAre(1));
    EXPECT_EQ(fault_of(assign("y", "a", SlotAsk{kNoon})), SlotFault::Exhausted);
}

TEST_P(SlotStoreContract, MovesUnderTheActiveVersion) {
    const ConfigVersion first = put(draft("a", 5, 1s));
    take("x", "a", SlotAsk{kNoon, 3});
    const ConfigVersion second = put(draft("a", 3, 1s));

    const Slot moved = run(MoveSlot{event("x"), kNoon + 1h})->slot;

    EXPECT_EQ(store().find(event("x"))->past.front().config_id, first.id);
    EXPECT_EQ(moved.config_id, second.id);
    put(draft("a", 2, 1s));
    EXPECT_EQ(fault_of(MoveSlot{event("x"), kNoon + 2h}), SlotFault::WeightAboveCap);
    EXPECT_EQ(store().find(event("x"))->slot, moved);
}

TEST_P(SlotStoreContract, AssignsAndMovesInTheLongestWindows) {
    put(draft("a", 1, kDurationMax));
    const WindowGrid grid{kDurationMax};
    const Instant requested = grid.start_of(grid.index_of(kNoon));

    EXPECT_EQ(take("x", "a", SlotAsk{requested}).window_start, requested);
    EXPECT_EQ(take("y", "a", SlotAsk{requested}).window_start, requested + kDurationMax);
    EXPECT_EQ(must(run(MoveSlot{event("x"), requested + kDurationMax})).slot.window_start,
              requested + 2 * kDurationMax);
}

TEST_P(SlotStoreContract, MovesIntoThePoolThatTheConfigHasNow) {
    put(draft("a", 5, 1s));
    take("x", "a", SlotAsk{kNoon});
    put(draft("b", 5, 1s));
    put(sharing("b", draft("a", 5, 1s)));

    ASSERT_TRUE(run(MoveSlot{event("x"), kNoon + 1h}));

    EXPECT_THAT(counts("b", kNoon + 1h, 1), ElementsAre(1));
    put(draft("a", 5, 1s));
    EXPECT_THAT(counts("a", kNoon, 1), ElementsAre(0));
}

TEST_P(SlotStoreContract, KeepsTheWholeHistoryInOrder) {
    put(draft("a", 5, 1s));
    const Slot first = take("x", "a", SlotAsk{kNoon});
    std::vector<Slot> past{first};
    for (int i = 1; i <= 12; ++i) {
        past.push_back(run(MoveSlot{event("x"), kNoon + i * 1h})->slot);
    }

    const Slot last = run(CancelSlot{event("x")})->slot;

    const auto story = store().find(event("x"));
    EXPECT_EQ(story->slot, last);
    EXPECT_EQ(last.revision, 13U);
    EXPECT_EQ(story->past, past);
}

TEST_P(SlotStoreContract, AssignsEachEventOfABulkForItself) {
    put(looking_ahead(0, draft("a", 2, 1s)));
    const Slot known = take("known", "a", SlotAsk{kNoon});
    const SlotAsk ask{kNoon};
    const SlotCommand command{
        AssignEach{{assign("x", "a", ask), assign("known", "a", ask), assign("y", "nowhere", ask),
                    assign("z", "a", ask), assign("x", "a", ask)}}};

    const auto replies = store().execute({&command, 1});

    const auto& outcomes = std::get<EachOutcome>(replies.at(0));
    ASSERT_EQ(outcomes.size(), 5U);
    ASSERT_TRUE(outcomes[0]);
    EXPECT_FALSE(outcomes[0]->repeated);
    EXPECT_EQ(outcomes[1]->slot, known);
    EXPECT_EQ(outcomes[2].error().fault, SlotFault::UnknownConfig);
    EXPECT_EQ(outcomes[3].error().fault, SlotFault::Exhausted);
    EXPECT_TRUE(outcomes[4]->repeated);
    EXPECT_EQ(outcomes[4]->slot, outcomes[0]->slot);
    EXPECT_EQ(store().find(event("x"))->slot, outcomes[0]->slot);
    EXPECT_THAT(counts("a", kNoon, 1), ElementsAre(2));
}

AssignAll all_of(const std::vector<std::string>& ids, SlotAsk ask) {
    AssignAll all;
    for (const std::string& id : ids) {
        all.events.push_back(assign(id, "a", ask));
    }
    return all;
}

TEST_P(SlotStoreContract, AssignsAllEventsOfAGroup) {
    put(draft("a", 2, 1s));

    const AllOutcome outcome = run_all(store(), all_of({"x", "y", "z"}, SlotAsk{kNoon}));

    ASSERT_TRUE(outcome);
    ASSERT_EQ(outcome->size(), 3U);
    EXPECT_EQ(outcome->at(0).slot.window_start, kNoon);
    EXPECT_EQ(outcome->at(2).slot.event_id, event("z"));
    EXPECT_EQ(outcome->at(2).slot.window_start, kNoon + 1s);
    EXPECT_THAT(counts("a", kNoon, 2), ElementsAre(2, 1));
}

TEST_P(SlotStoreContract, AssignsNoneOfAGroupWhenOneFails) {
    put(looking_ahead(0, draft("a", 2, 1s)));

    const AllOutcome outcome = run_all(store(), all_of({"x", "y", "z", "w"}, SlotAsk{kNoon}));

    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().event_id, event("z"));
    EXPECT_EQ(outcome.error().error.fault, SlotFault::Exhausted);
    EXPECT_EQ(store().find(event("x")).error().fault, SlotFault::UnknownEvent);
    EXPECT_THAT(counts("a", kNoon, 1), ElementsAre(0));
    EXPECT_TRUE(run_all(store(), all_of({"x", "y"}, SlotAsk{kNoon})));
}

TEST_P(SlotStoreContract, GivesEqualEventsOfAGroupOneSlot) {
    put(looking_ahead(0, draft("a", 2, 1s)));

    const AllOutcome outcome = run_all(store(), all_of({"x", "x", "y", "x"}, SlotAsk{kNoon}));

    ASSERT_TRUE(outcome);
    EXPECT_FALSE(outcome->at(0).repeated);
    EXPECT_TRUE(outcome->at(1).repeated);
    EXPECT_EQ(outcome->at(3).slot, outcome->at(0).slot);
    EXPECT_THAT(counts("a", kNoon, 1), ElementsAre(2));
}

TEST_P(SlotStoreContract, TakesBackAGroupWithEqualEventsOnlyOnce) {
    put(looking_ahead(0, draft("a", 3, 1s)));
    const Slot known = take("known", "a", SlotAsk{kNoon});

    const AllOutcome outcome =
        run_all(store(), all_of({"x", "known", "x", "y", "known", "z"}, SlotAsk{kNoon}));

    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().event_id, event("z"));
    EXPECT_THAT(counts("a", kNoon, 1), ElementsAre(1));
    EXPECT_EQ(store().find(event("known"))->slot, known);
    EXPECT_EQ(store().find(event("y")).error().fault, SlotFault::UnknownEvent);
}

TEST_P(SlotStoreContract, RefusesAGroupWithACancelledEvent) {
    put(draft("a", 3, 1s));
    take("gone", "a", SlotAsk{kNoon});
    ASSERT_TRUE(run(CancelSlot{event("gone")}));

    const AllOutcome outcome = run_all(store(), all_of({"x", "gone"}, SlotAsk{kNoon}));

    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().event_id, event("gone"));
    EXPECT_EQ(outcome.error().error.fault, SlotFault::Cancelled);
    EXPECT_THAT(counts("a", kNoon, 1), ElementsAre(0));
}

TEST_P(SlotStoreContract, KeepsAFailedGroupApartFromTheRestOfItsBatch) {
    put(looking_ahead(0, draft("a", 2, 1s)));
    const std::vector<SlotCommand> commands{assign("before", "a", SlotAsk{kNoon}),
                                            all_of({"before", "x", "y"}, SlotAsk{kNoon}),
                                            assign("x", "a", SlotAsk{kNoon})};

    const auto replies = store().execute(commands);

    EXPECT_TRUE(std::get<SlotOutcome>(replies[0]));
    EXPECT_FALSE(std::get<AllOutcome>(replies[1]));
    ASSERT_TRUE(std::get<SlotOutcome>(replies[2])) << "the failed group gave its place back";
    EXPECT_FALSE(std::get<SlotOutcome>(replies[2])->repeated);
    EXPECT_THAT(counts("a", kNoon, 1), ElementsAre(2));
}

}  // namespace
}  // namespace sluice::test
