// Several processes on one store: who sends what, and that no rate is passed whatever happens to them.
#include <gtest/gtest.h>

#include "support/dispatch_nodes.hpp"

namespace sluice::test {
namespace {

using namespace std::chrono_literals;
using Fails = NaiveWorkStore::Fails;

const Subject kGate{SubjectKind::Pool, "gated"};
constexpr std::uint32_t kRate = 20;

void bring(DispatchNodes& nodes, int count, const std::string& pool = "gated") {
    static int last = 0;
    for (int i = 0; i < count; ++i) {
        nodes.store().add({"n" + std::to_string(++last), nodes.now(), pool});
    }
}

ScriptedCarrier::Script jitters(Random& random, std::uint64_t most_ms) {
    return [&random, most_ms](const Parcel&) {
        const auto draw = [&] { return std::chrono::milliseconds{random.below(most_ms + 1)}; };
        return ScriptedCall{draw(), draw(), draw()};
    };
}

std::chrono::milliseconds draw(Random& random, std::uint64_t least, std::uint64_t most) {
    return std::chrono::milliseconds{least + random.below(most - least + 1)};
}

class DispatcherNodes : public testing::TestWithParam<std::uint64_t> {
protected:
    // A store with a rate, a keeper, and works that wait.
    static std::unique_ptr<DispatchNodes> nodes_with(int works, DispatchNodes::Setting setting = {}) {
        setting.seed = GetParam();
        auto nodes = std::make_unique<DispatchNodes>(setting);
        (void)nodes->store().put_rate(kGate, GateTerms{kRate}, "me");
        nodes->pass(6s);
        EXPECT_TRUE(nodes->keeper());
        bring(*nodes, works);
        return nodes;
    }
    static void expect_all_sent_within_the_rate(DispatchNodes& nodes, std::size_t works) {
        EXPECT_LE(fullest_second(nodes.arrival_times()), kRate);
        EXPECT_EQ(nodes.store().in_state(WorkState::Sent), works);
    }
};

TEST_P(DispatcherNodes, AllSendWhatPassesNoGate) {
    DispatchNodes nodes{{.seed = GetParam(), .take_max = 2}};
    (void)nodes.store().put_rate(kGate, GateTerms{kRate}, "me");
    nodes.pass(6s);

    bring(nodes, 100, "free");
    nodes.pass(10s);

    EXPECT_GT(nodes.sent_by(0), 10U);
    EXPECT_GT(nodes.sent_by(1), 10U);
    EXPECT_EQ(nodes.sent_by(0) + nodes.sent_by(1), 100U);
}

TEST_P(DispatcherNodes, OnlyTheKeeperSendsWhatPassesAGateAndItUsesNearlyAllOfIt) {
    Random random{GetParam()};
    const auto nodes = nodes_with(0);
    nodes->set_script(jitters(random, 1));

    bring(*nodes, 1000);
    nodes->pass(120s);

    const std::size_t keeper = nodes->keeper().value();
    EXPECT_EQ(nodes->sent_by(keeper), 1000U);
    EXPECT_EQ(nodes->sent_by(1 - keeper), 0U);
    const auto times = nodes->arrival_times();
    const double taken = std::chrono::duration<double>(times.back() - times.front()).count();
    EXPECT_GE(999 / taken, 0.97 * kRate / 1.003);
    expect_all_sent_within_the_rate(*nodes, 1000);
}

// The next keeper comes while calls of the one before are still on their way.
TEST_P(DispatcherNodes, HoldTheRateWhenKeepersDie) {
    Random random{GetParam()};
    const auto nodes = nodes_with(300, {.lease = 400ms});
    nodes->set_script([&](const Parcel&) { return ScriptedCall{.arrives = draw(random, 0, 1'900)}; });

    for (int i = 0; i < 8; ++i) {
        nodes->pass(draw(random, 2'000, 6'000));
        const std::size_t victim = nodes->keeper().value_or(0);
        nodes->kill(victim);
        nodes->pass(draw(random, 1, 6'000));
        nodes->start(victim);
    }
    nodes->pass(5min);

    expect_all_sent_within_the_rate(*nodes, 300);
}

TEST_P(DispatcherNodes, HoldTheRateWhenKeepersStandStill) {
    Random random{GetParam()};
    const auto nodes = nodes_with(500, {.lease = 1'500ms});
    nodes->set_script(jitters(random, 300));

    for (int i = 0; i < 15; ++i) {
        nodes->pass(draw(random, 100, 3'000));
        nodes->freeze(nodes->keeper().value_or(0), draw(random, 100, 3'000));
    }
    nodes->pass(5min);

    EXPECT_GE(nodes->metrics(0).lost_keeper_count + nodes->metrics(1).lost_keeper_count, 2);
    expect_all_sent_within_the_rate(*nodes, 500);
}

TEST_P(DispatcherNodes, HoldTheRateWhenTheirMachinesSleep) {
    Random random{GetParam()};
    const auto nodes = nodes_with(500, {.lease = 1'500ms});
    nodes->set_script(jitters(random, 300));

    for (int i = 0; i < 15; ++i) {
        nodes->pass(draw(random, 100, 3'000));
        nodes->put_to_sleep(nodes->keeper().value_or(0), draw(random, 100, 10'000));
    }
    nodes->pass(5min);

    EXPECT_GE(nodes->metrics(0).lost_keeper_count + nodes->metrics(1).lost_keeper_count, 2);
    expect_all_sent_within_the_rate(*nodes, 500);
}

TEST_P(DispatcherNodes, HoldTheRateWhenTheStoreIsOutOfTheirReach) {
    Random random{GetParam()};
    const auto nodes = nodes_with(500);
    nodes->set_script(jitters(random, 300));

    for (int i = 0; i < 6; ++i) {
        nodes->pass(draw(random, 100, 5'000));
        const std::size_t victim = nodes->keeper().value_or(0);
        nodes->store_of(victim).cut = true;
        nodes->pass(draw(random, 500, 8'000));
        nodes->store_of(victim).cut = false;
    }
    nodes->pass(5min);

    expect_all_sent_within_the_rate(*nodes, 500);
}

TEST_P(DispatcherNodes, HandOverAtOnceWhenTheKeeperStops) {
    Random random{GetParam()};
    DispatchNodes nodes{{.seed = GetParam()}};
    (void)nodes.store().put_rate(kGate, GateTerms{2}, "me");
    nodes.pass(6s);
    bring(nodes, 60);

    for (int i = 0; i < 8; ++i) {
        nodes.pass(draw(random, 2'000, 4'000));
        const std::size_t keeper = nodes.keeper().value();
        nodes.stop(keeper);
        nodes.pass(1'100ms);
        EXPECT_EQ(nodes.keeper(), 1 - keeper);
        nodes.start(keeper);
    }
    nodes.pass(1min);

    EXPECT_LE(fullest_second(nodes.arrival_times()), 2U);
    EXPECT_EQ(nodes.store().in_state(WorkState::Sent), 60U);
}

TEST_P(DispatcherNodes, HoldARateThatIsGivenWhileOthersHaveCallsUnderWay) {
    Random random{GetParam()};
    DispatchNodes nodes{{.seed = GetParam(), .take_max = 1}};
    (void)nodes.store().put_rate({SubjectKind::Host, "another"}, GateTerms{kRate}, "me");
    nodes.set_script([&](const Parcel&) {
        return ScriptedCall{.connects = draw(random, 0, 500), .arrives = draw(random, 0, 1'500)};
    });
    nodes.pass(6s);
    bring(nodes, 18);
    nodes.pass(draw(random, 1, 200));

    const SteadyTime given = nodes.steady();
    (void)nodes.store().put_rate(kGate, GateTerms{kRate}, "me");
    bring(nodes, 200);
    nodes.pass(5min);

    std::vector<SteadyTime> since;
    for (const SteadyTime time : nodes.arrival_times()) {
        if (time >= given) {
            since.push_back(time);
        }
    }
    EXPECT_LE(fullest_second(since), kRate);
    EXPECT_EQ(nodes.store().in_state(WorkState::Sent), 218U);
}

#if defined(__SANITIZE_ADDRESS__)
constexpr std::uint64_t kSeeds = 3;  // There a run takes tens of seconds.
#else
constexpr std::uint64_t kSeeds = 12;
#endif
INSTANTIATE_TEST_SUITE_P(Seeds, DispatcherNodes, testing::Range<std::uint64_t>(1, kSeeds + 1));

std::unique_ptr<DispatchNodes> brief_world(std::optional<std::size_t> failing_call, Fails how) {
    auto nodes = std::make_unique<DispatchNodes>(DispatchNodes::Setting{.seed = 5});
    nodes->set_script([](const Parcel&) { return ScriptedCall{.arrives = 5ms, .answers = 20ms}; });
    (void)nodes->store().put_rate(kGate, GateTerms{kRate}, "me");
    if (failing_call) {
        nodes->store().fail_at(*failing_call, how);
    }
    bring(*nodes, 25);
    bring(*nodes, 5, "free");
    nodes->pass(1min);
    return nodes;
}

class NodesFault : public testing::TestWithParam<Fails> {};

TEST_P(NodesFault, LoseNothingAndHoldTheRateWhicheverCallOfTheStoreFails) {
    const std::size_t calls = brief_world(std::nullopt, GetParam())->store().calls();
    for (std::size_t call = 1; call <= calls; ++call) {
        SCOPED_TRACE(call);

        const auto nodes = brief_world(call, GetParam());

        EXPECT_EQ(nodes->store().in_state(WorkState::Sent), 30U);
        EXPECT_EQ(nodes->arrival_times().size(), 30U);
        EXPECT_LE(fullest_second(nodes->arrival_times()), kRate + 5U) << "Five pass no gate.";
    }
}

INSTANTIATE_TEST_SUITE_P(Call, NodesFault, testing::Values(Fails::Before, Fails::After),
                         [](const auto& how) { return how.param == Fails::Before ? "Before" : "After"; });

TEST(DispatcherNode, TellsThatItKeepsTheGates) {
    DispatchNodes nodes{{}};
    (void)nodes.store().put_rate(kGate, GateTerms{kRate}, "me");
    nodes.pass(1s);
    const std::size_t keeper = nodes.keeper().value();

    nodes.store_of(keeper).cut = true;
    nodes.pass(10s);

    EXPECT_EQ(nodes.metrics(keeper).became_count, 1);
    EXPECT_EQ(nodes.metrics(keeper).lost_keeper_count, 1);
    EXPECT_EQ(nodes.keeper(), 1 - keeper);
}

TEST(DispatcherNode, WritesNothingBeyondItsLease) {
    DispatchNodes nodes{{.lease = 1s}};
    (void)nodes.store().put_rate(kGate, GateTerms{1}, "me");
    nodes.pass(6s);
    const std::size_t keeper = nodes.keeper().value();
    nodes.carrier(keeper).set_script([](const Parcel&) { return ScriptedCall{.connects = 1'200ms}; });
    bring(nodes, 1);
    nodes.pass(100ms);
    ASSERT_EQ(nodes.store().in_state(WorkState::Claimed), 1U);

    nodes.store_of(keeper).cut = true;
    nodes.pass(2s);

    EXPECT_EQ(nodes.carrier(keeper).refused(), 1U);
    EXPECT_EQ(nodes.sent_by(keeper), 0U);
    nodes.store_of(keeper).cut = false;
    nodes.pass(1min);
    EXPECT_EQ(nodes.store().in_state(WorkState::Sent), 1U);
}

TEST(DispatcherNode, CountsCallsThatTheKeeperBeforeLeftUnderWay) {
    DispatchNodes nodes{{.call = {.timeout = 4s}}};
    (void)nodes.store().put_rate(kGate, GateTerms{10}, "me");
    nodes.pass(6s);
    const std::size_t keeper = nodes.keeper().value();
    nodes.carrier(keeper).set_script([](const Parcel&) { return ScriptedCall{.arrives = 3'500ms}; });
    bring(nodes, 40);
    nodes.pass(1'200ms);

    nodes.stop(keeper);
    nodes.pass(1min);

    EXPECT_EQ(nodes.sent_by(keeper), 10U);
    EXPECT_LE(fullest_second(nodes.arrival_times()), 10U);
    EXPECT_EQ(nodes.store().in_state(WorkState::Sent), 40U);
}

TEST(DispatcherNode, CountsCallsThatOthersHaveUnderWayWhenARateIsNew) {
    DispatchNodes nodes{{.call = {.timeout = 4s}}};
    (void)nodes.store().put_rate({SubjectKind::Host, "another"}, GateTerms{1}, "me");
    nodes.pass(6s);
    const std::size_t keeper = nodes.keeper().value();
    nodes.carrier(1 - keeper).set_script([](const Parcel&) { return ScriptedCall{.arrives = 3'500ms}; });
    nodes.store_of(keeper).deaf = true;
    bring(nodes, 10);
    nodes.pass(50ms);
    nodes.store_of(keeper).deaf = false;

    (void)nodes.store().put_rate(kGate, GateTerms{10}, "me");
    bring(nodes, 30);
    nodes.pass(1min);

    EXPECT_EQ(nodes.sent_by(1 - keeper), 10U);
    EXPECT_EQ(nodes.sent_by(keeper), 30U);
    EXPECT_LE(fullest_second(nodes.arrival_times()), 10U);
}

TEST(DispatcherNode, OpensTheGatesASecondAfterItBecameTheKeeperAgain) {
    for (auto phase = 0ms; phase < 1s; phase += 100ms) {
        SCOPED_TRACE(phase.count());
        DispatchNodes nodes{{}};
        (void)nodes.store().put_rate(kGate, GateTerms{1}, "me");
        nodes.pass(6s);
        const std::size_t keeper = nodes.keeper().value();
        nodes.store_of(keeper).cut = true;
        nodes.pass(10s);
        nodes.store_of(keeper).cut = false;
        bring(nodes, 30);
        nodes.pass(10s + phase);
        ASSERT_EQ(nodes.keeper(), 1 - keeper);

        nodes.stop(1 - keeper);
        nodes.pass(1min);

        EXPECT_EQ(nodes.keeper(), keeper);
        EXPECT_EQ(nodes.arrival_times().size(), 30U);
        EXPECT_LE(fullest_second(nodes.arrival_times()), 1U);
    }
}

TEST(DispatcherNode, WritesNothingThatItClaimedBeforeItsMachineSlept) {
    DispatchNodes nodes{{}};
    (void)nodes.store().put_rate(kGate, GateTerms{1}, "me");
    nodes.pass(6s);
    const std::size_t keeper = nodes.keeper().value();
    nodes.carrier(keeper).set_script([](const Parcel&) { return ScriptedCall{.connects = 200ms}; });
    bring(nodes, 1);
    nodes.pass(100ms);

    nodes.put_to_sleep(keeper, 20s);
    nodes.pass(500ms);

    EXPECT_EQ(nodes.carrier(keeper).refused(), 1U);
    EXPECT_EQ(nodes.sent_by(keeper), 0U);
    EXPECT_EQ(nodes.store().in_state(WorkState::Sent), 1U) << "The other has made the call.";
}

TEST(DispatcherNode, AsksNobodyForWhatThereIsNot) {
    DispatchNodes nodes{{}};
    nodes.pass(1s);
    const std::size_t calls = nodes.store().calls();

    nodes.pass(59s);

    EXPECT_LE(nodes.store().calls(), calls + 6) << "Without gates nobody is their keeper.";
    EXPECT_FALSE(nodes.keeper());
}

TEST(DispatcherNode, FindsLanesThatNobodyToldItOf) {
    DispatchNodes nodes{{}};
    (void)nodes.store().put_rate(kGate, GateTerms{kRate}, "me");
    nodes.pass(6s);
    const std::size_t keeper = nodes.keeper().value();
    nodes.store_of(keeper).deaf = true;

    bring(nodes, 3);
    nodes.pass(1min);

    EXPECT_EQ(nodes.sent_by(keeper), 3U);
}

TEST(DispatcherNode, LooksAtNoLaneOfAGateThatAnotherKeeps) {
    DispatchNodes nodes{{}};
    (void)nodes.store().put_rate(kGate, GateTerms{1}, "me");
    nodes.pass(6s);
    bring(nodes, 60);
    nodes.pass(1s);
    const std::size_t keeper = nodes.keeper().value();

    nodes.kill(keeper);
    nodes.pass(1s);
    const std::size_t calls = nodes.store().calls();
    nodes.pass(1s);

    EXPECT_LE(nodes.store().calls(), calls + 2) << "It asks who the keeper is, and no more.";
}

TEST(DispatcherNode, LetsTheGatesGoWhenThereAreNoneAnyMore) {
    DispatchNodes nodes{{}};
    (void)nodes.store().put_rate(kGate, GateTerms{1}, "me");
    bring(nodes, 100);
    nodes.pass(6s);

    (void)nodes.store().put_rate(kGate, std::nullopt, "me");
    nodes.pass(1s);

    EXPECT_FALSE(nodes.keeper());
    EXPECT_EQ(nodes.store().in_state(WorkState::Sent), 100U);
}

}  // namespace
}  // namespace sluice::test
