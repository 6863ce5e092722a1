// A known event is answered before anything else is looked at, even if nothing else can be read.
#include "contract/slot_store_contract.hpp"

namespace sluice::test {
namespace {

using testing::ElementsAre;

TEST_P(SlotStoreContract, AnswersAKnownEventOfWhichNothingElseCanBeRead) {
    put(draft("a", 2, 1s));
    const Slot first = take("x", "a", SlotAsk{kNoon});

    const SlotOutcome alone = run(unreadable("x"));
    const EachOutcome each = run_each(store(), {{unreadable("x"), unreadable("x")}});
    const AllOutcome all = run_all(store(), {{unreadable("x"), assign("y", "a", SlotAsk{kNoon})}});

    EXPECT_EQ(must(alone).slot, first);
    EXPECT_TRUE(alone->repeated);
    EXPECT_EQ(must(each.at(0)).slot, first);
    EXPECT_EQ(must(each.at(1)).slot, first);
    ASSERT_TRUE(all);
    EXPECT_EQ(all->at(0).slot, first);
    EXPECT_EQ(all->at(1).slot, store().find(event("y"))->slot);
    EXPECT_THAT(counts("a", kNoon, 1), ElementsAre(2));
}

TEST_P(SlotStoreContract, GivesNothingToAnUnknownEventOfWhichNothingElseCanBeRead) {
    put(draft("a", 2, 1s));

    const SlotOutcome alone = run(unreadable("x"));
    const EachOutcome each =
        run_each(store(), {{assign("y", "a", SlotAsk{kNoon}), unreadable("x"), unreadable("x")}});
    const AllOutcome all =
        run_all(store(), {{assign("z", "a", SlotAsk{kNoon}), unreadable("y"), unreadable("x")}});

    EXPECT_EQ(alone.error().fault, SlotFault::UnknownEvent);
    EXPECT_TRUE(each.at(0));
    EXPECT_EQ(each.at(1).error().fault, SlotFault::UnknownEvent);
    EXPECT_EQ(each.at(2).error().fault, SlotFault::UnknownEvent);
    ASSERT_FALSE(all);
    EXPECT_EQ(all.error().event_id, event("x"));
    EXPECT_EQ(all.error().error.fault, SlotFault::UnknownEvent);
    EXPECT_EQ(store().find(event("x")).error().fault, SlotFault::UnknownEvent);
    EXPECT_EQ(store().find(event("z")).error().fault, SlotFault::UnknownEvent);
    EXPECT_THAT(counts("a", kNoon, 1), ElementsAre(1));
}

TEST_P(SlotStoreContract, KnowsTheEventsThatStandBeforeInABatch) {
    put(draft("a", 2, 1s));

    const EachOutcome each =
        run_each(store(), {{unreadable("x"), assign("x", "a", SlotAsk{kNoon}), unreadable("x"),
                            assign("x", "nowhere", SlotAsk{kNoon, 1000})}});

    EXPECT_EQ(each.at(0).error().fault, SlotFault::UnknownEvent);
    const Slot slot = must(each.at(1)).slot;
    EXPECT_FALSE(each.at(1)->repeated);
    EXPECT_EQ(must(each.at(2)).slot, slot);
    EXPECT_TRUE(each.at(2)->repeated);
    EXPECT_EQ(must(each.at(3)).slot, slot);
    EXPECT_THAT(counts("a", kNoon, 1), ElementsAre(1));
}

TEST_P(SlotStoreContract, KeepsACancelledEventCancelledIfNothingElseCanBeRead) {
    put(draft("a", 2, 1s));
    take("x", "a", SlotAsk{kNoon});
    must(run(CancelSlot{event("x")}));

    EXPECT_EQ(fault_of(unreadable("x")), SlotFault::Cancelled);
    EXPECT_EQ(fault_of(assign("x", "nowhere", SlotAsk{kNoon, 1000})), SlotFault::Cancelled);
    const EachOutcome each = run_each(store(), {{unreadable("x"), assign("y", "a", SlotAsk{kNoon})}});
    EXPECT_EQ(each.at(0).error().fault, SlotFault::Cancelled);
    EXPECT_TRUE(each.at(1));
    const AllOutcome all = run_all(store(), {{unreadable("x"), unreadable("nobody")}});
    EXPECT_EQ(all.error().event_id, event("x"));
    EXPECT_EQ(all.error().error.fault, SlotFault::Cancelled);
}

TEST_P(SlotStoreContract, TakesWhatCannotBeReadForAnotherBodyInStrictMode) {
    open({.strict = true});
    put(draft("a", 3, 1s));
    take("x", "a", SlotAsk{kNoon});
    take("gone", "a", SlotAsk{kNoon});
    must(run(CancelSlot{event("gone")}));

    AssignSlot same = assign("x", "a", SlotAsk{kNoon});  // What stands there by chance says nothing.
    same.is_readable = false;
    EXPECT_EQ(fault_of(same), SlotFault::DifferentBody);
    EXPECT_EQ(fault_of(unreadable("x")), SlotFault::DifferentBody);
    EXPECT_EQ(fault_of(assign("x", "nowhere", SlotAsk{kNoon})), SlotFault::DifferentBody);
    EXPECT_EQ(fault_of(assign("x", "a", SlotAsk{kNoon, 1000})), SlotFault::DifferentBody);
    EXPECT_EQ(fault_of(unreadable("gone")), SlotFault::Cancelled);
    EXPECT_EQ(fault_of(unreadable("nobody")), SlotFault::UnknownEvent);
    const EachOutcome each = run_each(store(), {{assign("y", "a", SlotAsk{kNoon}), unreadable("y")}});
    EXPECT_TRUE(each.at(0));
    EXPECT_EQ(each.at(1).error().fault, SlotFault::DifferentBody);
    const AllOutcome all = run_all(store(), {{assign("z", "a", SlotAsk{kNoon}), unreadable("z")}});
    EXPECT_EQ(all.error().event_id, event("z"));
    EXPECT_EQ(all.error().error.fault, SlotFault::DifferentBody);
    EXPECT_EQ(store().find(event("z")).error().fault, SlotFault::UnknownEvent);
}

}  // namespace
}  // namespace sluice::test
