// The hard rate of gates, and how much of it is used.
#include <gtest/gtest.h>

#include "support/dispatch_stage.hpp"

namespace sluice::test {
namespace {

using namespace std::chrono_literals;

const Subject kPool{SubjectKind::Pool, "pool"};
const Subject kHost{SubjectKind::Host, "host"};

void add_many(DispatchStage& stage, int count, const Route& route = {}) {
    static int last = 0;
    for (int i = 0; i < count; ++i) {
        stage.store().add({"e" + std::to_string(++last), stage.now(), "pool", "config", route});
    }
}

ScriptedCarrier::Script jittery(Random& random, std::uint64_t most_us) {
    return [&random, most_us](const Parcel&) {
        const auto draw = [&] { return std::chrono::microseconds{random.below(most_us + 1)}; };
        return ScriptedCall{draw(), draw(), draw()};
    };
}

// From the first to the last arrival.
double rate_of(const std::vector<SteadyTime>& times) {
    return static_cast<double>(times.size() - 1) /
           std::chrono::duration<double>(times.back() - times.front()).count();
}

class DispatcherRate : public testing::TestWithParam<std::uint64_t> {};

TEST_P(DispatcherRate, HoldsInEverySecondAndIsNearlyUsedUp) {
    DispatchStage::Setting setting{.seed = GetParam(), .commit = 8ms};
    DispatchStage stage{setting};
    Random random{GetParam()};
    stage.carrier().set_script(jittery(random, 1'500));
    (void)stage.store().put_rate(kPool, GateTerms{50}, "me");
    stage.pass(100ms);

    add_many(stage, 2000);
    stage.pass(60s);

    const auto times = stage.arrival_times();
    EXPECT_EQ(times.size(), 2000U);
    EXPECT_LE(fullest_second(times), 50U);
    EXPECT_GE(rate_of(times), 0.97 * 50 / 1.0045);
    EXPECT_EQ(stage.store().in_state(WorkState::Sent), 2000U);
}

TEST_P(DispatcherRate, HoldsWithCallsThatTakeLong) {
    DispatchStage stage{{.seed = GetParam(), .commit = 8ms}};
    Random random{GetParam()};
    stage.carrier().set_script(jittery(random, 400'000));
    (void)stage.store().put_rate(kPool, GateTerms{50}, "me");
    stage.pass(100ms);

    add_many(stage, 1000);
    stage.pass(60s);

    const auto times = stage.arrival_times();
    EXPECT_EQ(times.size(), 1000U);
    EXPECT_LE(fullest_second(times), 50U);
    EXPECT_GE(rate_of(times), 0.9 * 50 / 1.6);
}

TEST_P(DispatcherRate, HoldsForTheHostAndThePoolAtOnce) {
    DispatchStage stage{{.seed = GetParam(), .commit = 3ms}};
    Random random{GetParam()};
    stage.carrier().set_script(jittery(random, 1'500));
    (void)stage.store().put_rate(kPool, GateTerms{40}, "me");
    (void)stage.store().put_rate(kHost, GateTerms{25}, "me");
    stage.pass(100ms);

    add_many(stage, 500, {"host", "host/a"});
    add_many(stage, 500, {"elsewhere", "elsewhere/a"});
    stage.pass(60s);

    std::vector<SteadyTime> at_host;
    for (const Arrival& arrival : stage.carrier().arrivals()) {
        if (arrival.endpoint == "host/a") {
            at_host.push_back(arrival.arrived);
        }
    }
    std::sort(at_host.begin(), at_host.end());
    EXPECT_EQ(at_host.size(), 500U);
    EXPECT_LE(fullest_second(at_host), 25U);
    EXPECT_EQ(stage.arrival_times().size(), 1000U);
    EXPECT_LE(fullest_second(stage.arrival_times()), 40U);
    EXPECT_GE(rate_of(stage.arrival_times()), 0.9 * 40);
}

TEST_P(DispatcherRate, HoldsAcrossAKillAndARestart) {
    DispatchStage stage{{.seed = GetParam(), .commit = 3ms, .call = {.timeout = 2s}}};
    Random random{GetParam()};
    stage.carrier().set_script(jittery(random, 600'000));
    (void)stage.store().put_rate(kPool, GateTerms{20}, "me");
    add_many(stage, 300);

    for (int kills = 0; kills < 5; ++kills) {
        stage.pass(std::chrono::milliseconds{1'500 + random.below(2'000)});
        stage.kill();
        stage.start();
    }
    stage.pass(10min);

    EXPECT_LE(fullest_second(stage.arrival_times()), 20U);
    EXPECT_EQ(stage.store().in_state(WorkState::Sent), 300U);
}

TEST_P(DispatcherRate, HoldsFromTheMomentItIsGiven) {
    DispatchStage stage{{.seed = GetParam()}};
    Random random{GetParam()};
    stage.carrier().set_script([&](const Parcel&) {
        return ScriptedCall{.arrives = std::chrono::milliseconds{random.below(1'500)}, .answers = 1ms};
    });
    add_many(stage, 8);
    stage.pass(200ms);
    const SteadyTime given = stage.steady();
    (void)stage.store().put_rate(kPool, GateTerms{10}, "me");
    add_many(stage, 100);
    stage.pass(3min);

    std::vector<SteadyTime> since;
    for (const SteadyTime time : stage.arrival_times()) {
        if (time >= given) {
            since.push_back(time);
        }
    }
    EXPECT_LE(fullest_second(since), 10U);
    EXPECT_EQ(stage.arrival_times().size(), 108U);
}

INSTANTIATE_TEST_SUITE_P(Seeds, DispatcherRate, testing::Range<std::uint64_t>(1, 9));

TEST(DispatcherRates, SameSeedSameTrace) {
    const auto trace = [] {
        DispatchStage stage{{.seed = 7, .commit = 2ms}};
        Random random{7};
        stage.carrier().set_script(jittery(random, 50'000));
        (void)stage.store().put_rate(kPool, GateTerms{50}, "me");
        for (int i = 0; i < 200; ++i) {
            stage.store().add({"e" + std::to_string(i), stage.now()});
        }
        stage.pass(20s);
        std::vector<std::pair<std::string, SteadyTime>> seen;
        for (const Arrival& arrival : stage.carrier().arrivals()) {
            seen.emplace_back(arrival.event_id, arrival.arrived);
        }
        return seen;
    };

    EXPECT_EQ(trace(), trace());
}

TEST(DispatcherRates, CountCallsThatAProcessBeforeLeftUnderWay) {
    DispatchStage stage{{.call = {.timeout = 2s}}};
    stage.carrier().set_script([](const Parcel&) { return ScriptedCall{.arrives = 1900ms}; });
    (void)stage.store().put_rate(kPool, GateTerms{10}, "me");
    stage.pass(2s);
    add_many(stage, 30);
    stage.pass(900ms);

    stage.kill();
    stage.carrier().set_script({});
    stage.start();
    stage.pass(5min);

    EXPECT_LE(fullest_second(stage.arrival_times()), 10U);
    EXPECT_EQ(stage.store().in_state(WorkState::Sent), 30U);
}

TEST(DispatcherRates, CountWhatIsOut) {
    DispatchStage stage;
    (void)stage.store().put_rate(kPool, GateTerms{50}, "me");
    stage.carrier().set_script([](const Parcel&) { return ScriptedCall{.answers = 10s}; });
    add_many(stage, 3);

    stage.pass(3s);

    const auto gates = stage.dispatcher().figures().gates;
    ASSERT_EQ(gates.size(), 1U);
    EXPECT_EQ(gates[0].subject, kPool);
    EXPECT_EQ(gates[0].terms, GateTerms{50});
    EXPECT_EQ(gates[0].out, 3U);
}

TEST(DispatcherRates, EndWhenTheyAreTakenAway) {
    DispatchStage stage;
    (void)stage.store().put_rate(kPool, GateTerms{1}, "me");
    add_many(stage, 100);
    stage.pass(3s);
    EXPECT_LE(stage.carrier().arrivals().size(), 3U);

    (void)stage.store().put_rate(kPool, std::nullopt, "me");
    stage.pass(100ms);

    EXPECT_EQ(stage.carrier().arrivals().size(), 100U);
}

}  // namespace
}  // namespace sluice::test
