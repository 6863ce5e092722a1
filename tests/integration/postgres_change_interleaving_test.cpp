#include "support/postgres_interleaving.hpp"

namespace sluice::test {
namespace {

using testing::ElementsAre;

class ChangeInterleaving : public Interleaving {};

INSTANTIATE_TEST_SUITE_P(Ways, ChangeInterleaving, testing::Values(AssignWay::Batch, AssignWay::Function),
                         [](const auto& way) {
                             return way.param == AssignWay::Batch ? "Batch" : "Function";
                         });

TEST_P(ChangeInterleaving, ConcurrentCancelsGiveThePlaceBackOnce) {
    Node one = node();
    must(one->put_config(draft("a", 3, 1s)));
    one.window_of("x");
    one.window_of("y");
    const auto other = connect();
    ask(*other, "begin");
    ask(*other, "select sluice.cancel_slot('x')");

    auto cancelled = std::async(std::launch::async, [&] { return one.run(CancelSlot{event("x")}); });
    ASSERT_TRUE(somebody_waits());
    ask(*other, "commit");

    EXPECT_TRUE(must(cancelled.get()).repeated);
    EXPECT_THAT(counts(1), ElementsAre(1));
}

TEST_P(ChangeInterleaving, AMoveThatLosesAgainstACancelIsRefused) {
    Node one = node();
    must(one->put_config(draft("a", 3, 1s)));
    one.window_of("x");
    const auto other = connect();
    ask(*other, "begin");
    ask(*other, "select sluice.cancel_slot('x')");

    auto moved = std::async(std::launch::async, [&] { return one.run(MoveSlot{event("x"), kNoon + 2s}); });
    ASSERT_TRUE(somebody_waits());
    ask(*other, "commit");

    EXPECT_EQ(moved.get().error().fault, SlotFault::Cancelled);
    EXPECT_THAT(counts(3), ElementsAre(0, 0, 0));
}

TEST_P(ChangeInterleaving, ACancelAfterAMoveGivesTheNewPlaceBack) {
    Node one = node();
    must(one->put_config(draft("a", 3, 1s)));
    one.window_of("x");
    const auto other = connect();
    ask(*other, "begin");
    ask(*other, "select sluice.move_slot('x', sluice.to_ms(" + kNoonText + ") + 2000)");

    auto cancelled = std::async(std::launch::async, [&] { return one.run(CancelSlot{event("x")}); });
    ASSERT_TRUE(somebody_waits());
    EXPECT_THAT(counts(3), ElementsAre(1, 0, 0));
    ask(*other, "commit");

    EXPECT_FALSE(must(cancelled.get()).repeated);
    EXPECT_THAT(counts(3), ElementsAre(0, 0, 0));
}

TEST_P(ChangeInterleaving, OfTwoMovesTheLaterOneStands) {
    Node one = node();
    must(one->put_config(draft("a", 3, 1s)));
    one.window_of("x");
    const auto other = connect();
    ask(*other, "begin");
    ask(*other, "select sluice.move_slot('x', sluice.to_ms(" + kNoonText + ") + 2000)");

    auto moved = std::async(std::launch::async, [&] { return one.run(MoveSlot{event("x"), kNoon + 1s}); });
    ASSERT_TRUE(somebody_waits());
    ask(*other, "commit");

    EXPECT_EQ(must(moved.get()).slot.revision, 2U);
    EXPECT_THAT(counts(3), ElementsAre(0, 1, 0));
}

TEST_P(ChangeInterleaving, ACancelOnOneNodeMakesRoomOnTheOthers) {
    Node one = node();
    Node two = node();
    must(one->put_config(draft("a", 1, 1s)));
    for (int i = 0; i < 4; ++i) {
        EXPECT_EQ(two.window_of("e" + std::to_string(i)), i);
    }

    ASSERT_TRUE(one.run(CancelSlot{event("e1")}));

    int tries = 0;
    EXPECT_TRUE(eventually([&] {
        const EventId probe = event("probe" + std::to_string(tries++));
        const bool found = must(two.run(assign(probe, "a", SlotAsk{kNoon}))).slot.window_start == kNoon + 1s;
        if (!found) {
            must(two.run(CancelSlot{probe}));
        }
        return found;
    }));
}

TEST_P(ChangeInterleaving, ACancelInAChunkThatIsBeingMadeAgainIsFound) {
    Node one{dsn(), {GetParam(), 4}};
    must(one->put_config(draft("a", 1, 1s)));
    for (int i = 0; i < 4; ++i) {
        EXPECT_EQ(one.window_of("e" + std::to_string(i)), i);
    }
    const auto application = connect();
    ask(*application, "delete from rl_wndw_frontier_trk");  // Swept, as time goes by.
    ask(*application, "begin");
    ask(*application, call_assign("x"));  // Makes the chunk again, for nobody else to see, and finds it full.

    auto cancelled = std::async(std::launch::async, [&] { return one.run(CancelSlot{event("e1")}); });
    cancelled.wait_for(300ms);  // Long enough for one that looks away.
    ask(*application, "commit");

    EXPECT_TRUE(cancelled.get());
    EXPECT_EQ(one.window_of("y"), 1);
    EXPECT_EQ(
        ask(*application, "select extract(second from window_start)::int from sluice.assign_slot('z', 'a', " +
                              kNoonText + ")"),
        "5");
}

}  // namespace
}  // namespace sluice::test
