// Stores that fail at any call, and processes that end at any moment.
#include <map>

#include <gtest/gtest.h>

#include "support/dispatch_stage.hpp"

namespace sluice::test {
namespace {

using namespace std::chrono_literals;
using Fails = NaiveWorkStore::Fails;

constexpr int kWorks = 6;

std::string event(int number) { return "e" + std::to_string(number); }

const Subject kPool{SubjectKind::Pool, "pool"};

DispatchStage::Setting brief_calls() { return {.commit = 1ms, .call = {.timeout = 1s}}; }

// Works for now and for a little later, half of which fail at first.
void add_works(DispatchStage& stage) {
    stage.carrier().set_script([&stage](const Parcel& parcel) {
        int seen = 0;
        for (const Arrival& arrival : stage.carrier().arrivals()) {
            seen += arrival.event_id == parcel.event_id.text() ? 1 : 0;
        }
        const bool fails = seen == 0 && parcel.event_id.text() < event(kWorks / 2);
        return ScriptedCall{.arrives = 5ms,
                            .answers = 20ms,
                            .delivery = fails ? Delivery{.status = 500, .error = "It failed."}
                                              : Delivery{.kind = Delivery::Kind::Done, .status = 200}};
    });
    for (int i = 0; i < kWorks; ++i) {
        stage.store().add({event(i), stage.now() + i * 100ms, "pool", "config", {"host", "host/path"}});
    }
}

std::map<std::string, std::size_t> arrivals_by_event(DispatchStage& stage) {
    std::map<std::string, std::size_t> counts;
    for (const Arrival& arrival : stage.carrier().arrivals()) {
        EXPECT_EQ(arrival.payload, "payload of " + arrival.event_id);
        ++counts[arrival.event_id];
    }
    return counts;
}

// All arrived, and what arrived more than once is told by the audit.
void expect_nothing_lost(DispatchStage& stage) {
    EXPECT_EQ(stage.store().in_state(WorkState::Sent), static_cast<std::size_t>(kWorks));
    for (const auto& [name, count] : arrivals_by_event(stage)) {
        EXPECT_GE(stage.store().audit(name).size(), count) << name;
    }
    EXPECT_EQ(stage.dispatcher().figures().in_flight, 0U);
}

// Whoever did not die knows what it sent, and does not send it again.
void expect_no_repeats(DispatchStage& stage) {
    for (const auto& [name, count] : arrivals_by_event(stage)) {
        EXPECT_EQ(count, name < event(kWorks / 2) ? 2U : 1U) << name;
    }
}

std::size_t calls_without_failures() {
    DispatchStage stage{brief_calls()};
    (void)stage.store().put_rate(kPool, GateTerms{50}, "me");
    add_works(stage);
    stage.pass(2min);
    expect_nothing_lost(stage);
    expect_no_repeats(stage);
    return stage.store().calls();
}

class DispatcherFault : public testing::TestWithParam<Fails> {};

TEST_P(DispatcherFault, LosesAndRepeatsNothingWhicheverCallOfTheStoreFails) {
    const std::size_t calls = calls_without_failures();
    for (std::size_t call = 1; call <= calls; ++call) {
        SCOPED_TRACE(call);
        DispatchStage stage{brief_calls()};
        (void)stage.store().put_rate(kPool, GateTerms{50}, "me");
        stage.store().fail_at(call, GetParam());
        add_works(stage);

        stage.pass(10min);

        expect_nothing_lost(stage);
        expect_no_repeats(stage);
    }
}

TEST_P(DispatcherFault, RemembersWhatItSentWhileTheStoreIsAwayForLongerThanClaimsLast) {
    const std::size_t calls = calls_without_failures();
    for (std::size_t call = 1; call <= calls; ++call) {
        SCOPED_TRACE(call);
        DispatchStage stage{brief_calls()};
        stage.store().fail_at(call, GetParam(), true);
        add_works(stage);
        stage.pass(1min);

        stage.store().heal();
        stage.pass(10min);

        expect_nothing_lost(stage);
        expect_no_repeats(stage);
    }
}

TEST_P(DispatcherFault, LosesNothingWhenTheProcessEndsAtAnyCallOfTheStore) {
    const std::size_t calls = calls_without_failures();
    for (std::size_t call = 1; call <= calls; ++call) {
        SCOPED_TRACE(call);
        DispatchStage stage{brief_calls()};
        stage.store().fail_at(call, GetParam(), true);
        add_works(stage);
        stage.pass(1s);

        stage.kill();
        stage.start();
        stage.pass(10min);

        expect_nothing_lost(stage);
    }
}

INSTANTIATE_TEST_SUITE_P(Call, DispatcherFault, testing::Values(Fails::Before, Fails::After),
                         [](const auto& how) { return how.param == Fails::Before ? "Before" : "After"; });

TEST(DispatcherEnd, TellsThatTheOutcomeOfAClaimIsNotKnown) {
    DispatchStage stage{brief_calls()};
    stage.carrier().set_script([](const Parcel&) { return ScriptedCall{.answers = 500ms}; });
    stage.store().add({event(1), stage.now()});
    stage.pass(100ms);

    stage.kill();
    stage.start();
    stage.pass(1min);

    const auto audit = stage.store().audit(event(1));
    ASSERT_EQ(audit.size(), 2U);
    EXPECT_EQ(audit[0].action, AuditLine::Action::Lost);
    EXPECT_EQ(audit[0].attempt, 1U);
    EXPECT_TRUE(audit[0].error.starts_with("The outcome is not known: "));
    EXPECT_EQ(audit[1].attempt, 2U);
    EXPECT_EQ(stage.metrics().lost_count, 1);
}

TEST(DispatcherEnd, GivesUpALostClaimWhenItsScheduleHasEnded) {
    DispatchStage stage{brief_calls()};
    stage.store().put_schedule("config", RetrySchedule{std::vector<Duration>{}});
    stage.carrier().set_script([](const Parcel&) { return ScriptedCall{.answers = 500ms}; });
    stage.store().add({event(1), stage.now()});
    stage.pass(100ms);

    stage.kill();
    stage.start();
    stage.pass(1min);

    EXPECT_EQ(stage.store().work(event(1)).state, WorkState::Dead);
    EXPECT_EQ(stage.carrier().arrivals().size(), 1U);
}

TEST(DispatcherEnd, GivesBackWhatIsPlannedOnly) {
    DispatchStage stage;
    (void)stage.store().put_rate(kPool, GateTerms{20}, "me");
    stage.pass(2s);
    for (int i = 0; i < 5; ++i) {
        stage.store().add({event(i), stage.now()});
    }
    stage.pass(1ms);
    ASSERT_GE(stage.store().in_state(WorkState::Claimed), 1U);
    const std::size_t arrived = stage.carrier().arrivals().size();

    stage.stop();

    EXPECT_EQ(stage.store().in_state(WorkState::Claimed), 0U);
    EXPECT_EQ(stage.store().in_state(WorkState::Sent), arrived);
    EXPECT_EQ(stage.store().in_state(WorkState::Pending), 5 - arrived);
    stage.start();
    stage.pass(3s);
    EXPECT_EQ(stage.carrier().arrivals().size(), 5U);
}

TEST(DispatcherEnd, StoresWhatItKnowsThoughTheStoreFailsOnce) {
    DispatchStage stage;
    stage.carrier().set_script([](const Parcel&) { return ScriptedCall{.answers = 500ms}; });
    stage.store().add({event(1), stage.now()});
    stage.pass(499ms);
    stage.store().fail_at(1, Fails::Before);
    stage.pass(2ms);

    stage.stop();

    EXPECT_EQ(stage.store().work(event(1)).state, WorkState::Sent);
}

TEST(DispatcherEnd, DoesNotHearOfCallsThatEndLater) {
    DispatchStage stage;
    stage.carrier().set_script([](const Parcel&) { return ScriptedCall{.connects = 1ms, .answers = 1s}; });
    stage.store().add({event(1), stage.now()});
    stage.pass(500us);

    stage.stop();
    stage.pass(2s);

    EXPECT_EQ(stage.carrier().refused(), 1U) << "What has not begun must not begin after the end.";
    EXPECT_EQ(stage.store().work(event(1)).state, WorkState::Claimed);
}

}  // namespace
}  // namespace sluice::test
