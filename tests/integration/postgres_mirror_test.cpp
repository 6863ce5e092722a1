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

}  // namespace
}  // namespace sluice::test
