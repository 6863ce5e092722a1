// Slots that are forgotten some time after they were due.
#include "contract/slot_store_contract.hpp"

namespace sluice::test {
namespace {

using testing::IsEmpty;

constexpr StoreSettings kTwoDays{.retention = std::chrono::days{2}};

TEST_P(SlotStoreContract, ForgetsSlotsWithTheirCountersWhenTheirTimeIsUp) {
    around_.clock.set(kNoon);
    open(kTwoDays);
    put(draft("a", 2, 4s));
    take("old", "a", {kNoon});
    take("young", "a", {kNoon + 24h});

    start_again_after(47h);
    EXPECT_TRUE(knows("old"));
    start_again_after(2h);

    EXPECT_TRUE(forgets("old"));
    EXPECT_TRUE(knows("young"));
    EXPECT_THAT(counts("a", kNoon, 1), testing::ElementsAre(0));
}

TEST_P(SlotStoreContract, TakesAForgottenEventForANewOne) {
    around_.clock.set(kNoon);
    open(kTwoDays);
    put(draft("a", 2, 4s));
    const Slot before = take("e", "a", {kNoon});
    start_again_after(49h);
    ASSERT_TRUE(forgets("e"));

    const auto again = must(run(assign("e", "a", {around_.clock.now()})));

    EXPECT_FALSE(again.repeated);
    EXPECT_NE(again.slot.scheduled, before.scheduled);
    EXPECT_TRUE(must(run(assign("e", "a", {around_.clock.now()}))).repeated);
}

TEST_P(SlotStoreContract, TellsNoHistoryOfAForgottenEventOfTheSameName) {
    around_.clock.set(kNoon);
    open(kTwoDays);
    put(draft("a", 2, 4s));
    take("e", "a", {kNoon + 400h});
    must(run(MoveSlot{event("e"), kNoon}));
    start_again_after(49h);
    ASSERT_TRUE(forgets("e"));

    take("e", "a", {around_.clock.now()});

    EXPECT_THAT(must(store().find(event("e"))).past, IsEmpty());
    must(run(MoveSlot{event("e"), around_.clock.now() + 1h}));
    EXPECT_EQ(must(store().find(event("e"))).past.size(), 1U);
}

TEST_P(SlotStoreContract, KeepsEverySlotUnlessARetentionIsSet) {
    put(draft("a", 2, 4s));
    take("old", "a", {kNoon});

    start_again_after(std::chrono::days{3650});

    EXPECT_TRUE(must(run(assign("old", "a", {kNoon}))).repeated);
}

}  // namespace
}  // namespace sluice::test
