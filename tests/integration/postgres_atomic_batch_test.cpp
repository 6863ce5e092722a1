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

// What stands in for windows that are held lies behind the earliest that is wanted: no help at later times.
class AtomicBatchAtManyTimes : public AtomicBatch {
protected:
    const std::vector<Duration> times_{0s, 900s, 1800s};

    // An application that has taken three places at each of these times, and has not ended.
    std::unique_ptr<postgres::Connection> open_application() {
        auto application = connect();
        ask(*application, "begin");
        for (const Duration time : times_) {
            for (const std::string name : {"x", "y", "z"}) {
                const std::string ms = std::to_string(time.count());
                ask(*application, "select sluice.assign_slot('" + name + ms + "', 'a', timestamptz " +
                                      kNoonText + " + interval '" + ms + " ms')");
            }
        }
        return application;
    }

    // One event at each of the times: how much later each is.
    std::vector<Duration> delays(Node& node) {
        AssignAll group;
        for (const Duration time : times_) {
            group.events.push_back(assign("own" + std::to_string(time.count()), "a", SlotAsk{kNoon + time}));
        }
        const AllOutcome outcome = run_all(*node, std::move(group));
        EXPECT_TRUE(outcome) << outcome.error().error.detail;
        std::vector<Duration> delays;
        for (std::size_t i = 0; outcome && i < times_.size(); ++i) {
            delays.push_back((*outcome)[i].slot.window_start - kNoon - times_[i]);
        }
        return delays;
    }
};

INSTANTIATE_TEST_SUITE_P(Ways, AtomicBatchAtManyTimes, testing::Values(AssignWay::Batch, AssignWay::Function),
                         [](const auto& way) {
                             return way.param == AssignWay::Batch ? "Batch" : "Function";
                         });

TEST_P(AtomicBatchAtManyTimes, PassesWindowsThatOthersHold) {
    Node one = node();
    must(one->put_config(draft("a", 1, 1s)));
    for (const Duration time : times_) {  // So that there are counters.
        const std::string early = "early" + std::to_string(time.count());
        one.window_of(early, kNoon + time);
        must(one.run(CancelSlot{event(early)}));
    }
    const auto application = open_application();

    EXPECT_THAT(delays(one), ElementsAre(3s, 3s, 3s));
}

TEST_P(AtomicBatchAtManyTimes, PassesCountersThatOthersAreMaking) {
    Node one = node();
    must(one->put_config(draft("a", 1, 1s)));
    const auto application = open_application();

    EXPECT_THAT(delays(one), ElementsAre(100s, 100s, 100s)) << "the next chunk is free";
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
