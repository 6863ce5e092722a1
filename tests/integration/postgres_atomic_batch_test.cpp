#include "support/postgres_interleaving.hpp"

// Groups of all or none, while other transactions are at the same events.
namespace sluice::test {
namespace {

using testing::ElementsAre;

class AtomicBatch : public Interleaving {
protected:
    [[nodiscard]] Node strict_node() const { return Node{dsn(), {GetParam(), 100, 1500ms, true}}; }

    // Runs the group while `application` is at one of its events, and then commits.
    AllOutcome run_until_commit(Node& node, AssignAll group, postgres::Connection& application) {
        auto outcome = std::async(std::launch::async, [&] { return run_all(*node, std::move(group)); });
        EXPECT_TRUE(somebody_waits());
        ask(application, "commit");
        return outcome.get();
    }

    std::string stored() {
        return ask(*connect(), "select string_agg(event_id, ' ' order by event_id) from rl_event_slot_dtl");
    }
};

INSTANTIATE_TEST_SUITE_P(Ways, AtomicBatch, testing::Values(AssignWay::Batch, AssignWay::Function),
                         [](const auto& way) {
                             return way.param == AssignWay::Batch ? "Batch" : "Function";
                         });

AssignSlot at_noon(std::string_view id, Places weight = 1) { return assign(id, "a", SlotAsk{kNoon, weight}); }

TEST_P(AtomicBatch, StoresNothingWhenAMemberIsLostToACancelledSlot) {
    Node one = node();
    must(one->put_config(draft("a", 9, 1s)));
    one.window_of("first");
    const auto application = connect();
    ask(*application, "begin; " + call_assign("x") + "; select sluice.cancel_slot('x')");

    const AllOutcome outcome =
        run_until_commit(one, {{at_noon("w"), at_noon("x"), at_noon("y")}}, *application);

    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().error.fault, SlotFault::Cancelled);
    EXPECT_EQ(outcome.error().event_id, event("x"));
    EXPECT_EQ(stored(), "first x");
    EXPECT_THAT(counts(2), ElementsAre(1, 0));
    EXPECT_EQ(one.window_of("next"), 0);
}

TEST_P(AtomicBatch, StoresNothingWhenAMemberIsLostToAnotherBody) {
    Node one = strict_node();
    must(one->put_config(draft("a", 9, 1s)));
    one.window_of("first");
    const auto application = connect();
    ask(*application, "begin; " + call_assign("x"));

    const AllOutcome outcome =
        run_until_commit(one, {{at_noon("w"), at_noon("x", 2), at_noon("y")}}, *application);

    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().error.fault, SlotFault::DifferentBody);
    EXPECT_EQ(stored(), "first x");
}

TEST_P(AtomicBatch, StoresTheOthersWhenAMemberIsLostToASlotThatWillDo) {
    Node one = strict_node();
    must(one->put_config(draft("a", 9, 1s)));
    one.window_of("first");
    const auto application = connect();
    ask(*application, "begin; " + call_assign("x"));

    const AllOutcome outcome =
        run_until_commit(one, {{at_noon("w"), at_noon("x"), at_noon("y")}}, *application);

    ASSERT_TRUE(outcome);
    EXPECT_FALSE((*outcome)[0].repeated);
    EXPECT_TRUE((*outcome)[1].repeated);
    EXPECT_EQ(stored(), "first w x y");
    EXPECT_THAT(counts(2), ElementsAre(2, 2)) << "the application held the first";
}

// It is known, so its config is not looked at; that holds after another transaction was faster, too.
TEST_P(AtomicBatch, AKnownEventStaysKnownWhenAnotherMemberIsLost) {
    Node one = node();
    must(one->put_config(draft("a", 9, 1s)));
    one.window_of("first");
    const auto application = connect();
    ask(*application, "begin; " + call_assign("x"));

    const AllOutcome outcome = run_until_commit(
        one, {{assign("first", "gone", SlotAsk{kNoon}), at_noon("x"), at_noon("y")}}, *application);

    ASSERT_TRUE(outcome) << outcome.error().error.detail;
    EXPECT_TRUE((*outcome)[0].repeated);
    EXPECT_EQ(stored(), "first x y");
}

TEST_P(AtomicBatch, StoresNothingWhenAnEventIsRepeatedWithAnotherBody) {
    Node one = strict_node();
    must(one->put_config(draft("a", 9, 1s)));

    const AllOutcome outcome = run_all(*one, {{at_noon("w"), at_noon("x"), at_noon("x", 2), at_noon("y")}});

    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().error.fault, SlotFault::DifferentBody);
    EXPECT_EQ(outcome.error().event_id, event("x"));
    EXPECT_EQ(stored(), "");
    EXPECT_TRUE(run_all(*one, {{at_noon("w"), at_noon("x"), at_noon("x"), at_noon("y")}}));
    EXPECT_EQ(stored(), "w x y");
}

// If it took a place in the first window, the heavy one would find none.
TEST_P(AtomicBatch, AKnownEventTakesNoPlace) {
    Node one = node();
    must(one->put_config(looking_ahead(1, draft("a", 2, 1s))));
    EXPECT_EQ(one.window_of("known", kNoon + 100s), 100);
    EXPECT_EQ(one.window_of("second", kNoon + 1s), 1);
    const AssignAll fitting{{at_noon("known"), at_noon("heavy", 2), at_noon("light")}};
    AssignAll exceeding = fitting;
    exceeding.events.push_back(at_noon("more"));

    const AllOutcome refused = run_all(*one, exceeding);
    const AllOutcome given = run_all(*one, fitting);

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().error.fault, SlotFault::Exhausted);
    EXPECT_EQ(refused.error().event_id, event("more"));
    ASSERT_TRUE(given) << given.error().error.detail;
    EXPECT_THAT(counts(2), ElementsAre(2, 2));
}

TEST_P(AtomicBatch, StoresNothingOfTenThousandWhenOneIsLost) {
    constexpr std::size_t kEvents = 10'000;
    Node one{dsn(), {GetParam(), 100, 8000ms}};
    must(one->put_config(draft("a", 1000, 1s)));
    one.window_of("first");
    const auto application = connect();
    ask(*application, "begin; " + call_assign("e5000") + "; select sluice.cancel_slot('e5000')");
    AssignAll group;
    for (std::size_t i = 0; i < kEvents; ++i) {
        group.events.push_back(assign(event(i), "a", SlotAsk{kNoon}));
    }

    const AllOutcome outcome = run_until_commit(one, group, *application);

    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().error.fault, SlotFault::Cancelled);
    EXPECT_EQ(ask(*application, "select count(*) from rl_event_slot_dtl"), "2");
    group.events.erase(group.events.begin() + 5000);
    EXPECT_TRUE(run_all(*one, std::move(group)));
    EXPECT_EQ(ask(*application, "select sum(slot_ct) from rl_wndw_ct"), std::to_string(kEvents));
}

TEST_P(AtomicBatch, PlacesTenThousandOneByOneBehindABacklog) {
    constexpr std::int64_t kEvents = 10'000;
    constexpr std::int64_t kBacklog = 2'000;
    Node one = node();
    must(one->put_config(draft("a", 1, 1s)));
    fill_windows(kBacklog);
    AssignAll group;
    for (std::int64_t i = 0; i < kEvents; ++i) {
        group.events.push_back(assign(event(static_cast<std::size_t>(i)), "a", SlotAsk{kNoon + i % 7 * 1s}));
    }

    const AllOutcome outcome = run_all(*one, std::move(group));

    ASSERT_TRUE(outcome) << outcome.error().error.detail;
    EXPECT_EQ(ask(*connect(), "select count(*) from rl_wndw_ct where slot_ct = 1"),
              std::to_string(kBacklog + kEvents));
    EXPECT_EQ(outcome->back().slot.window_start, kNoon + (kBacklog + kEvents - 1) * 1s);
}

}  // namespace
}  // namespace sluice::test
