#include "contract/slot_store_contract.hpp"

namespace sluice::test {
namespace {

using testing::Each;
using testing::ElementsAre;

TEST_P(SlotStoreContract, SchedulesInTheWindowOfTheRequestedTimeAndNotBeforeIt) {
    put(draft("a", 100, 4s));

    const Slot slot = take("x", "a", SlotAsk{kNoon + 1500ms});

    EXPECT_EQ(slot.event_id, event("x"));
    EXPECT_EQ(slot.requested, kNoon + 1500ms);
    EXPECT_EQ(slot.window_start, kNoon);
    EXPECT_GE(slot.scheduled, kNoon + 1500ms);
    EXPECT_LT(slot.scheduled, kNoon + 4s);
    EXPECT_EQ(slot.delay(), slot.scheduled - slot.requested);
    EXPECT_EQ(slot.state, SlotState::Assigned);
    EXPECT_EQ(slot.revision, 0U);
    EXPECT_EQ(slot.since, around_.clock.now());
}

TEST_P(SlotStoreContract, GivesTheFirstWindowOnlyItsShare) {
    put(draft("a", 10, 4s));

    take_many(7, "x", "a", SlotAsk{kNoon + 2s});

    EXPECT_THAT(counts("a", kNoon, 3), ElementsAre(5, 2, 0));
}

TEST_P(SlotStoreContract, FillsTheEarliestWindowFirst) {
    put(draft("a", 3, 1s));

    const auto slots = take_many(8, "x", "a", SlotAsk{kNoon});

    EXPECT_THAT(counts("a", kNoon, 4), ElementsAre(3, 3, 2, 0));
    for (std::size_t i = 0; i < slots.size(); ++i) {
        const Instant window = kNoon + 1s * static_cast<std::int64_t>(i / 3);
        EXPECT_EQ(slots[i].window_start, window);
        EXPECT_GE(slots[i].scheduled, window);
        EXPECT_LT(slots[i].scheduled, window + 1s);
    }
}

TEST_P(SlotStoreContract, TellsHowFarAnEventWasPutOff) {
    put(draft("a", 1, 1s));

    EXPECT_EQ(run(assign("x", "a", SlotAsk{kNoon}))->depth, 0);
    EXPECT_EQ(run(assign("y", "a", SlotAsk{kNoon}))->depth, 1);
    EXPECT_EQ(run(assign("z", "a", SlotAsk{kNoon}))->depth, 2);
}

TEST_P(SlotStoreContract, DoesNotJumpOverAGapBetweenFullWindows) {
    put(draft("a", 1, 1s));
    take("x", "a", SlotAsk{kNoon});
    take("y", "a", SlotAsk{kNoon + 2s});

    EXPECT_EQ(take("z", "a", SlotAsk{kNoon}).window_start, kNoon + 1s);
    EXPECT_EQ(take("w", "a", SlotAsk{kNoon}).window_start, kNoon + 3s);
}

TEST_P(SlotStoreContract, FindsTheEndOfALongBacklog) {
    put(draft("a", 1, 1s));
    const std::size_t backlog = 9000 / GetParam().round_trips;
    take_many(backlog, "x", "a", SlotAsk{kNoon});

    EXPECT_EQ(take("last", "a", SlotAsk{kNoon}).window_start, kNoon + backlog * 1s);
    ASSERT_TRUE(run(CancelSlot{event("x432")}));
    EXPECT_EQ(take("hole", "a", SlotAsk{kNoon}).window_start, kNoon + 432s);
}

TEST_P(SlotStoreContract, HoldsTheCapForPastTimesToo) {
    put(draft("a", 2, 1s));
    const Instant long_ago = kNoon - 365 * 24h;

    take_many(5, "x", "a", SlotAsk{long_ago});

    EXPECT_THAT(counts("a", long_ago, 3), ElementsAre(2, 2, 1));
    EXPECT_EQ(take("epoch", "a", SlotAsk{kEpoch}).window_start, kEpoch);
}

TEST_P(SlotStoreContract, GivesTheSameEventTheSameSlotForEver) {
    put(draft("a", 2, 1s));
    const Slot first = take("x", "a", SlotAsk{kNoon});
    around_.clock.advance(1h);

    const SlotOutcome again = run(assign("x", "a", SlotAsk{kNoon}));

    ASSERT_TRUE(again);
    EXPECT_TRUE(again->repeated);
    EXPECT_EQ(again->slot, first);
    EXPECT_THAT(counts("a", kNoon, 1), ElementsAre(1));
}

TEST_P(SlotStoreContract, DecidesEqualEventsWithOtherBodiesInTheirOrder) {
    put(looking_ahead(0, draft("a", 2, 1s)));
    take("first", "a", SlotAsk{kNoon});
    const std::vector<SlotCommand> commands{
        assign("x", "a", SlotAsk{kNoon, 2}), assign("x", "a", SlotAsk{kNoon}),
        assign("y", "a", SlotAsk{kNoon}), assign("x", "a", SlotAsk{kNoon, 2})};

    const auto replies = store().execute(commands);

    EXPECT_EQ(std::get<SlotOutcome>(replies[0]).error().fault, SlotFault::Exhausted);
    ASSERT_TRUE(std::get<SlotOutcome>(replies[1]));
    EXPECT_FALSE(std::get<SlotOutcome>(replies[1])->repeated);
    EXPECT_EQ(std::get<SlotOutcome>(replies[2]).error().fault, SlotFault::Exhausted);
    ASSERT_TRUE(std::get<SlotOutcome>(replies[3]));
    EXPECT_TRUE(std::get<SlotOutcome>(replies[3])->repeated);
}

TEST_P(SlotStoreContract, GivesEqualEventsOfOneBatchOneSlot) {
    put(draft("a", 5, 1s));
    const std::vector<SlotCommand> commands(4, assign("x", "a", SlotAsk{kNoon}));

    const auto replies = store().execute(commands);

    const Granted first = std::get<SlotOutcome>(replies[0]).value();
    EXPECT_FALSE(first.repeated);
    for (std::size_t i = 1; i < replies.size(); ++i) {
        EXPECT_TRUE(std::get<SlotOutcome>(replies[i])->repeated);
        EXPECT_EQ(std::get<SlotOutcome>(replies[i])->slot, first.slot);
    }
    EXPECT_THAT(counts("a", kNoon, 1), ElementsAre(1));
}

TEST_P(SlotStoreContract, AnswersAKnownEventWhateverElseIsAsked) {
    put(draft("a", 2, 1s));
    put(draft("b", 2, 1s));
    const Slot first = take("x", "a", SlotAsk{kNoon});

    EXPECT_EQ(take("x", "a", SlotAsk{kNoon + 1h}), first);
    EXPECT_EQ(take("x", "a", SlotAsk{kNoon, 2, 1s}), first);
    EXPECT_EQ(take("x", "a", SlotAsk{kNoon, 1000}), first);
    EXPECT_EQ(take("x", "b", SlotAsk{kNoon}), first);
    EXPECT_EQ(take("x", "nowhere", SlotAsk{kNoon}), first);
}

TEST_P(SlotStoreContract, RefusesAnotherBodyInStrictModeOnly) {
    open({.strict = true});
    put(draft("a", 2, 1s));
    put(draft("b", 2, 1s));
    const Slot first = take("x", "a", SlotAsk{kNoon, 1, 3s});

    EXPECT_EQ(take("x", "a", SlotAsk{kNoon, 1, 3s}), first);
    EXPECT_EQ(fault_of(assign("x", "a", SlotAsk{kNoon + 1ms, 1, 3s})), SlotFault::DifferentBody);
    EXPECT_EQ(fault_of(assign("x", "a", SlotAsk{kNoon, 2, 3s})), SlotFault::DifferentBody);
    EXPECT_EQ(fault_of(assign("x", "a", SlotAsk{kNoon, 1, 4s})), SlotFault::DifferentBody);
    EXPECT_EQ(fault_of(assign("x", "a", SlotAsk{kNoon})), SlotFault::DifferentBody);
    EXPECT_EQ(fault_of(assign("x", "b", SlotAsk{kNoon, 1, 3s})), SlotFault::DifferentBody);
    EXPECT_THAT(counts("a", kNoon, 2), ElementsAre(1, 0));
}

TEST_P(SlotStoreContract, AcceptsTheFirstBodyInStrictModeAlsoAfterAMoveAndANewVersion) {
    open({.strict = true});
    put(draft("a", 2, 1s));
    take("x", "a", SlotAsk{kNoon});
    const Slot moved = run(MoveSlot{event("x"), kNoon + 1h})->slot;
    put(draft("a", 9, 1s));

    EXPECT_EQ(take("x", "a", SlotAsk{kNoon}), moved);
}

TEST_P(SlotStoreContract, RefusesAnUnknownConfig) {
    const SlotOutcome outcome = run(assign("x", "nowhere", SlotAsk{kNoon}));

    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().fault, SlotFault::UnknownConfig);
    EXPECT_EQ(outcome.error().detail,
              "There is no config named 'nowhere'. Make one: sluice config set nowhere --max-per-window 50 "
              "--window-size 1s, or POST /admin/rate-limit/config.");
    EXPECT_EQ(store().find(event("x")).error().fault, SlotFault::UnknownEvent);
}

TEST_P(SlotStoreContract, TakesAsManyPlacesAsAnEventWeighs) {
    put(draft("a", 10, 1s));

    EXPECT_EQ(take("x", "a", SlotAsk{kNoon, 7}).window_start, kNoon);
    EXPECT_EQ(take("y", "a", SlotAsk{kNoon, 4}).window_start, kNoon + 1s);
    EXPECT_EQ(take("z", "a", SlotAsk{kNoon, 3}).window_start, kNoon);
    EXPECT_EQ(take("w", "a", SlotAsk{kNoon, 10}).window_start, kNoon + 2s);
    EXPECT_THAT(counts("a", kNoon, 4), ElementsAre(10, 4, 10, 0));
}

TEST_P(SlotStoreContract, RefusesAWeightThatNoWindowCouldHold) {
    put(draft("a", 10, 1s));

    EXPECT_EQ(fault_of(assign("x", "a", SlotAsk{kNoon, 11})), SlotFault::WeightAboveCap);
    EXPECT_THAT(counts("a", kNoon, 1), ElementsAre(0));
}

TEST_P(SlotStoreContract, HoldsTheLargestCapAndWeight) {
    put(draft("a", kMaxPerWindowLimit, 1s));

    EXPECT_EQ(take("x", "a", SlotAsk{kNoon, kMaxPerWindowLimit}).window_start, kNoon);
    EXPECT_EQ(take("y", "a", SlotAsk{kNoon, 1}).window_start, kNoon + 1s);
    EXPECT_EQ(take("z", "a", SlotAsk{kNoon, kMaxPerWindowLimit}).window_start, kNoon + 2s);
}

TEST_P(SlotStoreContract, NeverDelaysLongerThanAsked) {
    put(draft("a", 5, 1s));
    take_many(5, "full", "a", SlotAsk{kNoon});

    for (const Slot& slot : take_many(5, "x", "a", SlotAsk{kNoon, 1, 1010ms})) {
        EXPECT_EQ(slot.window_start, kNoon + 1s);
        EXPECT_LE(slot.delay(), 1010ms);
    }
}

TEST_P(SlotStoreContract, IsExhaustedWhenEveryWindowWithinTheMaximalDelayIsFull) {
    put(draft("a", 1, 1s));
    take_many(3, "x", "a", SlotAsk{kNoon});

    const SlotOutcome outcome = run(assign("y", "a", SlotAsk{kNoon, 1, 2999ms}));

    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().fault, SlotFault::Exhausted);
    EXPECT_EQ(outcome.error().windows_searched, 3);
    EXPECT_NE(outcome.error().detail.find("maxDelay is PT2.999S"), std::string::npos)
        << outcome.error().detail;
    EXPECT_EQ(outcome.error().window_size, 1s);
    EXPECT_EQ(store().find(event("y")).error().fault, SlotFault::UnknownEvent);
    EXPECT_EQ(take("y", "a", SlotAsk{kNoon, 1, 3000ms}).scheduled, kNoon + 3s);
}

TEST_P(SlotStoreContract, IsExhaustedWhenEveryWindowWithinTheLookaheadIsFull) {
    put(looking_ahead(2, draft("a", 2, 1s)));
    take_many(6, "x", "a", SlotAsk{kNoon});

    const SlotOutcome outcome = run(assign("y", "a", SlotAsk{kNoon}));

    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().fault, SlotFault::Exhausted);
    EXPECT_EQ(outcome.error().windows_searched, 3);
    EXPECT_NE(outcome.error().detail.find("maxLookahead of the config is 2"), std::string::npos)
        << outcome.error().detail;
    ASSERT_TRUE(run(CancelSlot{event("x4")}));
    EXPECT_EQ(take("y", "a", SlotAsk{kNoon}).window_start, kNoon + 2s);
}

TEST_P(SlotStoreContract, RunsTheCommandsOfABatchInOrder) {
    put(draft("a", 1, 1s));
    const std::vector<SlotCommand> commands{
        assign("x", "a", SlotAsk{kNoon}), CancelSlot{event("x")},           assign("y", "a", SlotAsk{kNoon}),
        assign("x", "a", SlotAsk{kNoon}), MoveSlot{event("y"), kNoon + 1h}, assign("z", "a", SlotAsk{kNoon})};

    const auto replies = store().execute(commands);

    EXPECT_EQ(std::get<SlotOutcome>(replies[2])->slot.window_start, kNoon)
        << "the cancel before it made room";
    EXPECT_EQ(std::get<SlotOutcome>(replies[3]).error().fault, SlotFault::Cancelled);
    EXPECT_EQ(std::get<SlotOutcome>(replies[4])->slot.window_start, kNoon + 1h);
    EXPECT_EQ(std::get<SlotOutcome>(replies[5])->slot.window_start, kNoon) << "the move before it made room";
    EXPECT_EQ(store().find(event("x"))->past.size(), 1U);
    EXPECT_EQ(store().find(event("y"))->past.size(), 1U);
}

TEST_P(SlotStoreContract, AnswersABatchOfNothingWithNothing) { EXPECT_TRUE(store().execute({}).empty()); }

TEST_P(SlotStoreContract, KeepsIdsVerbatim) {
    put(draft("{a}:*", 100, 1s));
    for (const std::string& id : {std::string{"'; DROP TABLE x"}, std::string{"{a}"}, std::string{"a:b"},
                                  std::string{"\xF0\x9F\x98\x80"}, std::string(255, 'x')}) {
        const Slot slot = take(id, "{a}:*", SlotAsk{kNoon});

        EXPECT_EQ(store().find(event(id))->slot, slot);
        EXPECT_EQ(store().find(event(id))->config_name, config("{a}:*"));
    }
}

TEST_P(SlotStoreContract, FindsAnEventWithItsConfig) {
    put(draft("a", 5, 1s));
    const Slot slot = take("x", "a", SlotAsk{kNoon, 2, 7s});

    const auto story = store().find(event("x"));

    ASSERT_TRUE(story);
    EXPECT_EQ(story->slot, slot);
    EXPECT_EQ(story->slot.weight, 2U);
    EXPECT_EQ(story->slot.max_delay, 7s);
    EXPECT_EQ(story->config_name, config("a"));
    EXPECT_TRUE(story->past.empty());
    EXPECT_EQ(store().find(event("y")).error().fault, SlotFault::UnknownEvent);
}

TEST_P(SlotStoreContract, SpreadsSlotsOverTheWindow) {
    put(draft("a", 1000, 1000ms));

    std::vector<int> quarters(4);
    for (const Slot& slot : take_many(1000, "x", "a", SlotAsk{kNoon})) {
        ++quarters.at(static_cast<std::size_t>((slot.scheduled - kNoon) / 250ms));
    }

    EXPECT_THAT(quarters, Each(testing::AllOf(testing::Gt(180), testing::Lt(320))));
}

TEST_P(SlotStoreContract, IsAvailable) { EXPECT_TRUE(store().available()); }

}  // namespace
}  // namespace sluice::test
