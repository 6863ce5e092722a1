// Who goes first when not all can: endpoints that hang, overdue work beside fresh work.
#include <map>

#include <gtest/gtest.h>

#include "support/dispatch_stage.hpp"

namespace sluice::test {
namespace {

using namespace std::chrono_literals;

std::string numbered(const std::string& prefix, int number) { return prefix + std::to_string(number); }

Route route_to(int number) {
    return {.host = numbered("host", number), .endpoint = numbered("host", number) + "/path"};
}

// Arrivals at each endpoint between two times.
std::map<std::string, std::size_t> arrivals_between(DispatchStage& stage, SteadyTime from, SteadyTime to) {
    std::map<std::string, std::size_t> counts;
    for (const Arrival& arrival : stage.carrier().arrivals()) {
        if (arrival.arrived >= from && arrival.arrived < to) {
            ++counts[arrival.endpoint];
        }
    }
    return counts;
}

// Ten endpoints get 20 calls a second each; the first answers nothing until the time-out.
std::map<std::string, std::size_t> run_with_one_that_hangs(DispatchStage& stage) {
    stage.carrier().set_script([](const Parcel& parcel) {
        const bool hangs = parcel.order.route == route_to(0);
        return hangs ? ScriptedCall{.answers = 15s, .delivery = {.error = "It timed out."}}
                     : ScriptedCall{.answers = 5ms};
    });
    const SteadyTime start = stage.steady() + 2s;
    const Instant first = stage.now() + 2s;
    for (int i = 0; i < 20 * 60; ++i) {
        for (int endpoint = 0; endpoint < 10; ++endpoint) {
            stage.store().add(
                {numbered("e", 10 * i + endpoint), first + i * 50ms, "pool", "config", route_to(endpoint)});
        }
    }
    stage.pass(2s + 60s + 100ms);
    return arrivals_between(stage, start, start + 60s + 100ms);
}

TEST(DispatcherShares, OneEndpointThatHangsCostsTheOthersNothing) {
    DispatchStage stage{{.commit = 2ms}};

    const auto counts = run_with_one_that_hangs(stage);

    for (int endpoint = 1; endpoint < 10; ++endpoint) {
        EXPECT_GE(counts.at(route_to(endpoint).endpoint), 1140U);
    }
    EXPECT_LE(counts.at(route_to(0).endpoint), 20U);
}

TEST(DispatcherShares, OneEndpointThatHangsCostsTheOthersNothingWhereHostsHaveRates) {
    DispatchStage stage{{.commit = 2ms}};
    for (int endpoint = 0; endpoint < 10; ++endpoint) {
        (void)stage.store().put_rate({SubjectKind::Host, route_to(endpoint).host}, GateTerms{21}, "me");
    }

    const auto counts = run_with_one_that_hangs(stage);

    for (int endpoint = 1; endpoint < 10; ++endpoint) {
        EXPECT_GE(counts.at(route_to(endpoint).endpoint), 1140U);
    }
}

// Overdue work of the hour before, and windows of ten seconds half of which is booked.
void add_backlog_and_fresh(DispatchStage& stage, int overdue, int windows) {
    for (int i = 0; i < overdue; ++i) {
        stage.store().add({numbered("late", i), stage.now() - 1h + i * 10ms});
    }
    const Instant first = stage.now() + 10s - 1ms;  // Each window begins just after the last of one before.
    for (int i = 0; i < windows * 250; ++i) {
        stage.store().add({numbered("fresh", i), first + i * 40ms});
    }
}

// How late each fresh one arrived.
std::vector<Duration> latenesses_of_fresh(DispatchStage& stage, SteadyTime first) {
    std::vector<Duration> all;
    for (const Arrival& arrival : stage.carrier().arrivals()) {
        if (arrival.event_id.starts_with("fresh")) {
            const auto due = first + std::stoi(arrival.event_id.substr(5)) * 40ms;
            all.push_back(std::chrono::duration_cast<Duration>(arrival.arrived - due));
        }
    }
    return all;
}

void expect_caps_hold(DispatchStage& stage, Places cap) {
    for (const auto& [window, sends] : stage.store().sends("pool")) {
        EXPECT_LE(sends.sent, cap);
        const Places room = std::max(late_share(window, cap), cap - std::min(cap, sends.planned));
        EXPECT_LE(sends.late, room);
    }
}

TEST(DispatcherShares, CapsHoldAndFreshWorkIsInTimeWhileABacklogIsSent) {
    DispatchStage stage{{.window = {10s, 500}, .commit = 2ms}};
    stage.carrier().set_script([](const Parcel&) { return ScriptedCall{.answers = 2ms}; });
    const SteadyTime first = stage.steady() + 10s - 1ms;

    add_backlog_and_fresh(stage, 20'000, 90);
    stage.pass(920s);

    expect_caps_hold(stage, 500);
    EXPECT_EQ(stage.store().in_state(WorkState::Sent), 20'000U + 90 * 250);
    const auto latenesses = latenesses_of_fresh(stage, first);
    EXPECT_LE(*std::max_element(latenesses.begin(), latenesses.end()), 10s);
}

TEST(DispatcherShares, TheSameUnderARate) {
    DispatchStage stage{{.window = {10s, 500}, .commit = 2ms}};
    stage.carrier().set_script([](const Parcel&) { return ScriptedCall{.answers = 2ms}; });
    (void)stage.store().put_rate({SubjectKind::Pool, "pool"}, GateTerms{40}, "me");
    stage.pass(10s);
    const SteadyTime first = stage.steady() + 10s - 1ms;

    add_backlog_and_fresh(stage, 20'000, 100);
    stage.pass(1012s);

    expect_caps_hold(stage, 500);
    EXPECT_LE(fullest_second(stage.arrival_times()), 40U);
    const auto latenesses = latenesses_of_fresh(stage, first);
    EXPECT_EQ(latenesses.size(), 100U * 250) << "None is behind the backlog.";
    EXPECT_LE(*std::max_element(latenesses.begin(), latenesses.end()), 10s);
    EXPECT_GE(stage.carrier().arrivals().size(), 1000U * 40 * 97 / 100) << "The rest goes to late work.";
}

TEST(DispatcherShares, LateWorkHasAFifthOfARateWhileFreshWorkWaitsAndAllOfItOtherwise) {
    DispatchStage stage;
    (void)stage.store().put_rate({SubjectKind::Pool, "pool"}, GateTerms{50}, "me");
    stage.pass(2s);
    for (int i = 0; i < 400; ++i) {
        stage.store().add({numbered("fresh", i), stage.now()});
        stage.store().add({numbered("late", i), stage.now() - 2h});
    }

    stage.pass(20s);

    const auto& arrivals = stage.carrier().arrivals();
    ASSERT_EQ(arrivals.size(), 800U);
    const auto late_among = [&](std::size_t from, std::size_t to) {
        return std::count_if(arrivals.begin() + static_cast<std::ptrdiff_t>(from),
                             arrivals.begin() + static_cast<std::ptrdiff_t>(to),
                             [](const Arrival& arrival) { return arrival.event_id.starts_with("late"); });
    };
    for (std::size_t from = 50; from < 450; from += 50) {
        EXPECT_NEAR(static_cast<double>(late_among(from, from + 50)), 10, 2);
    }
    EXPECT_EQ(late_among(550, 800), 250);
}

TEST(DispatcherShares, ACallBeginsInTheWindowInWhichItCounts) {
    DispatchStage stage{{.window = {1s, 5}}};
    (void)stage.store().put_rate({SubjectKind::Pool, "pool"}, GateTerms{20}, "me");
    stage.pass(5s);
    const SteadyTime start = stage.steady();
    for (int i = 0; i < 5; ++i) {
        stage.store().add({numbered("e", i), stage.now() + 950ms});
        stage.store().add({numbered("f", i), stage.now() + 1s});
    }

    stage.pass(10s);

    std::map<std::int64_t, int> begun;
    for (const Arrival& arrival : stage.carrier().arrivals()) {
        EXPECT_LE(++begun[(arrival.began - start) / 1s], 5);
    }
    EXPECT_EQ(begun[1], 5) << "Fresh work is reached behind what missed its window.";
    EXPECT_EQ(stage.carrier().arrivals().size(), 10U);
}

TEST(DispatcherShares, FreshWorkThatMissedItsWindowGoesWithTheLate) {
    DispatchStage stage{{.window = {10s, 10}}};
    for (int i = 0; i < 15; ++i) {
        stage.store().add({numbered("e", i), stage.now() + 1s});
    }
    stage.pass(9s);
    EXPECT_EQ(stage.carrier().arrivals().size(), 10U);

    stage.pass(2s);

    EXPECT_EQ(stage.carrier().arrivals().size(), 15U);
    expect_caps_hold(stage, 10);
}

}  // namespace
}  // namespace sluice::test
