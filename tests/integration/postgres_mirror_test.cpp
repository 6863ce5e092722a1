#include "support/postgres_interleaving.hpp"

// What a node believes of windows that others fill and free.
namespace sluice::test {
namespace {

class Mirrors : public Interleaving {
protected:
    // Waits until `node` has heard all that was said up to now: what is said last is a config change.
    static bool has_heard(Node& node, Node& teller) {
        must(teller->put_config(draft("signal", 1, 1s)));
        must(node->active_config(config("signal")));  // From now on it answers with this until it is told.
        const ConfigVersion newest = must(teller->put_config(draft("signal", 1, 1s)));
        return eventually([&] { return must(node->active_config(config("signal"))).id == newest.id; });
    }
};

INSTANTIATE_TEST_SUITE_P(Ways, Mirrors, testing::Values(AssignWay::Batch),
                         [](const auto&) { return "Batch"; });

TEST_P(Mirrors, WhatAnAttemptSawDoesNotOverwriteNewsThatCameMeanwhile) {
    Node one = node();
    Node two = node();
    must(one->put_config(draft("a", 1, 1s)));
    EXPECT_EQ(one.window_of("far", kNoon + 50s), 50);  // Now it believes that noon is empty.
    EXPECT_EQ(two.window_of("e"), 0);
    const auto application = connect();
    ask(*application,
        "begin; select sluice.assign_slot('x', 'a', timestamptz " + kNoonText + " + interval '60 s')");

    // It sees that noon is full, and then waits for x.
    auto group = std::async(std::launch::async, [&] {
        return run_all(*one, {{assign("y", "a", SlotAsk{kNoon}), assign("x", "a", SlotAsk{kNoon})}});
    });
    ASSERT_TRUE(somebody_waits());
    must(two.run(CancelSlot{event("e")}));
    EXPECT_TRUE(has_heard(one, two));
    ask(*application, "commit");

    EXPECT_TRUE(group.get());
    EXPECT_EQ(one.window_of("z"), 0);
}

TEST_P(Mirrors, AreForgottenOnEveryNodeByAFlush) {
    Node one = node();
    Node two = node();
    must(one->put_config(draft("a", 1, 1s)));
    EXPECT_EQ(one.window_of("x"), 0);
    EXPECT_EQ(two.window_of("y"), 1);
    // As somebody who repairs a database by hand would: no node is told.
    ask(*connect(),
        "delete from rl_event_slot_dtl where event_id = 'x';"
        " update rl_wndw_ct set slot_ct = 0 where wndw_strt_ts = " +
            kNoonText);

    one->flush_config_cache();

    EXPECT_TRUE(has_heard(two, one));
    EXPECT_EQ(two.window_of("z"), 0);
    must(two.run(CancelSlot{event("z")}));
    EXPECT_EQ(one.window_of("w"), 0);
}

// A million windows take about two seconds to read, which is as long as a group waits for what others hold.
// Here a table that cannot be read for so long stands for them. Then the first window has no counter yet, so
// that there has to be a second attempt.
TEST_P(Mirrors, AreReadForTheFirstTimeHoweverLongThatTakes) {
    Node one = node();
    must(one->put_config(draft("a", 1, 1s)));
    const auto application = connect();
    ask(*application, "begin; lock table rl_wndw_ct in access exclusive mode");

    auto assigned = std::async(std::launch::async, [&] { return one.window_of("x"); });
    ASSERT_TRUE(somebody_waits());
    ask(*application, "select pg_sleep(2.2); commit");

    EXPECT_EQ(assigned.get(), 0);
}

// SLUICE_BACKLOG_WINDOWS=1000000 makes it longer than a test should last.
TEST_P(Mirrors, PassABacklogThatWasBuiltBehindTheirBack) {
    const char* text = std::getenv("SLUICE_BACKLOG_WINDOWS");
    const std::int64_t windows = text == nullptr ? 20'000 : std::stoll(text);
    Node one = node();
    must(one->put_config(draft("a", 1, 1s)));
    for (std::int64_t i = 0; i < windows; i += 4000) {  // Now it believes that all of them are empty.
        const std::string id = "early" + std::to_string(i);
        EXPECT_EQ(one.window_of(id, kNoon + i * 1s), i);
        must(one.run(CancelSlot{event(id)}));
    }
    fill_windows(windows);

    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(one.window_of("next"), windows);
    const auto took = std::chrono::steady_clock::now() - begin;

    RecordProperty("milliseconds", std::to_string(took / 1ms));
}

// The first event finds room every time, so that not all of what is believed turns out to be wrong.
TEST_P(Mirrors, PassABacklogForAGroupOfAllOrNoneWhenOnlyOneOfItIsBehind) {
    constexpr std::int64_t kWindows = 20'000;
    Node one = node();
    must(one->put_config(draft("a", 1, 1s)));
    for (std::int64_t i = 0; i < kWindows; i += 4000) {
        const std::string id = "early" + std::to_string(i);
        EXPECT_EQ(one.window_of(id, kNoon + i * 1s), i);
        must(one.run(CancelSlot{event(id)}));
    }
    fill_windows(kWindows);

    const auto granted =
        run_all(*one, {{assign("near", "a", SlotAsk{kNoon - 100s}), assign("far", "a", SlotAsk{kNoon})}});

    ASSERT_TRUE(granted) << granted.error().error.detail;
    EXPECT_EQ(granted->back().slot.window_start, kNoon + kWindows * 1s);
}

}  // namespace
}  // namespace sluice::test
