#include "support/postgres_interleaving.hpp"

namespace sluice::test {
namespace {

using testing::ElementsAre;

class ConfigInterleaving : public Interleaving {};

INSTANTIATE_TEST_SUITE_P(Ways, ConfigInterleaving, testing::Values(AssignWay::Batch, AssignWay::Function),
                         [](const auto& way) {
                             return way.param == AssignWay::Batch ? "Batch" : "Function";
                         });

std::string put_in_sql(int cap) {
    return "select sluice.put_config('a', " + std::to_string(cap) +
           ", 1000, 'PT1S', 'a', null, 100, timestamptz " + kNoonText + " - interval '1 h')";
}

TEST_P(ConfigInterleaving, AConfigChangeWaitsForARunningAssign) {
    Node one = node();
    must(one->put_config(draft("a", 1, 1s)));
    const auto application = connect();
    ask(*application, "begin");
    ask(*application, call_assign("x"));

    auto change = std::async(std::launch::async, [&] { return one->put_config(draft("a", 5, 1s)); });
    ASSERT_TRUE(somebody_waits());
    EXPECT_EQ(one->active_config(config("a"))->terms.max_per_window, 1);
    ask(*application, "commit");

    EXPECT_EQ(must(change.get()).terms.max_per_window, 5);
    EXPECT_EQ(one.window_of("y"), 0);
}

TEST_P(ConfigInterleaving, AnAssignWaitsForARunningConfigChangeAndWritesNothingFromTheOldCap) {
    Node one = node();
    must(one->put_config(draft("a", 9, 1s)));
    one.window_of("known");  // The node has the old version in its cache.
    const auto administrator = connect();
    ask(*administrator, "begin");
    ask(*administrator, put_in_sql(1));

    auto assigned = std::async(std::launch::async, [&] {
        const AssignEach all{{assign("x", "a", SlotAsk{kNoon}), assign("y", "a", SlotAsk{kNoon})}};
        const SlotCommand command{all};
        return (*one).execute({&command, 1});
    });
    ASSERT_TRUE(somebody_waits());
    ask(*administrator, "commit");

    const auto replies = assigned.get();
    for (const SlotOutcome& outcome : std::get<EachOutcome>(replies.front())) {
        EXPECT_EQ(config_id_text(must(outcome).slot.config_id), "cfg-2");
    }
    EXPECT_THAT(counts(3), ElementsAre(1, 1, 1));
}

TEST_P(ConfigInterleaving, AMoveThatWaitedForAConfigChangeIsMadeUnderTheNewVersion) {
    Node one = node();
    must(one->put_config(draft("a", 9, 1s)));
    one.window_of("x");
    const auto administrator = connect();
    ask(*administrator, "begin");
    ask(*administrator, put_in_sql(1));

    auto moved = std::async(std::launch::async, [&] { return one.run(MoveSlot{event("x"), kNoon + 1s}); });
    ASSERT_TRUE(somebody_waits());
    ask(*administrator, "commit");

    EXPECT_EQ(config_id_text(must(moved.get()).slot.config_id), "cfg-2");
    EXPECT_THAT(counts(2), ElementsAre(0, 1));
}

TEST_P(ConfigInterleaving, AFlushOnOneNodeReachesTheOthersAtOnce) {
    Node one = node();
    Node two = node();
    must(one->put_config(draft("a", 1, 1s)));
    ASSERT_EQ(two->active_config(config("a"))->terms.max_per_window, 1);
    ask(*connect(), "update rl_event_wndw_config set wndw_max_event_ct = 7");
    ASSERT_EQ(two->active_config(config("a"))->terms.max_per_window, 1);

    one->flush_config_cache();

    EXPECT_TRUE(eventually([&] { return two->active_config(config("a"))->terms.max_per_window == 7; }));
}

TEST_P(ConfigInterleaving, ARaisedCapOpensWindowsOnTheOtherNodeAtOnce) {
    Node one = node();
    Node two = node();
    must(one->put_config(draft("a", 1, 1s)));
    EXPECT_EQ(two.window_of("x"), 0);
    EXPECT_EQ(two.window_of("y"), 1);

    must(one->put_config(draft("a", 2, 1s)));

    EXPECT_EQ(two.window_of("z"), 0);
    EXPECT_TRUE(eventually([&] { return two->active_config(config("a"))->terms.max_per_window == 2; }));
}

TEST_P(ConfigInterleaving, ALoweredCapHoldsOnTheOtherNodeAtOnce) {
    Node one = node();
    Node two = node();
    must(one->put_config(draft("a", 3, 1s)));
    EXPECT_EQ(two.window_of("x"), 0);

    must(one->put_config(draft("a", 1, 1s)));

    EXPECT_EQ(two.window_of("y"), 1);
    EXPECT_EQ(two.window_of("z"), 2);
}

TEST_P(ConfigInterleaving, AWindowSizeChangesOnlyWhenNothingDependsOnIt) {
    Node one = node();
    Node two = node();
    must(one->put_config(draft("a", 2, 1s)));
    for (int i = 0; i < 5; ++i) {
        two.window_of("e" + std::to_string(i));
    }

    EXPECT_EQ(one->put_config(draft("a", 2, 4s)).error().fault, SlotFault::WindowSizeInUse);
    one.clock.set(kNoon + 30 * 24h);
    EXPECT_EQ(one->put_config(draft("a", 2, 4s)).error().fault, SlotFault::WindowSizeInUse)
        << "this node's clock is wrong";
    one.set_server_clock_to(kNoon + 1h);
    must(one->put_config(sharing("a", draft("b", 1, 1s))));
    EXPECT_EQ(one->put_config(draft("a", 6, 4s)).error().fault, SlotFault::PoolWindowSize);
    must(one->put_config(draft("b", 1, 1s)));  // To a pool of its own.
    must(one->put_config(draft("a", 6, 4s)));

    EXPECT_THAT(counts(1), ElementsAre(5));
    EXPECT_EQ(two.window_of("x"), 0);
    EXPECT_EQ(two.window_of("y"), 4);
}

TEST_P(ConfigInterleaving, ProvisioningKeepsOutOfAChangeOfTheWindowSize) {
    Node one{dsn(), {GetParam(), 10}};
    must(one->put_config(draft("a", 2, 1s)));
    const auto change = connect();
    const auto provisioner = connect();
    const std::string chunk = "2051222400000";  // Of both sizes.
    const std::string old_chunk = "2051222410000";
    // How many windows it was kept from.
    const auto provision = [&](const std::string& start) {
        return ask(*provisioner, "select count(*) from sluice.provision_windows('a', '{" + start + "}')");
    };

    ask(*change, "begin; select pg_advisory_xact_lock(7301, hashtext('a'))");
    auto waiting = std::async(std::launch::async, [&] { return provision(old_chunk); });
    ASSERT_TRUE(somebody_waits());
    ask(*change, "select sluice.put_config('a', 2, 4000, 'PT4S', 'a', null, 10, clock_timestamp()); commit");

    EXPECT_EQ(waiting.get(), "0");
    EXPECT_EQ(ask(*provisioner,
                  "select count(*) from rl_wndw_ct where wndw_strt_ts = sluice.from_ms(" + old_chunk + ")"),
              "0");
    EXPECT_EQ(ask(*provisioner, "select sluice.provision('a', " + old_chunk + ")"), "f");
    EXPECT_EQ(provision(chunk), "0");
    EXPECT_EQ(ask(*provisioner,
                  "select count(*) from rl_wndw_ct where wndw_strt_ts = sluice.from_ms(" + chunk + ")"),
              "1");
}

}  // namespace
}  // namespace sluice::test
