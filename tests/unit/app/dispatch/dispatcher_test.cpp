#include "app/dispatch/dispatcher.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/dispatch_stage.hpp"

namespace sluice::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

const Route kRoute{.host = "host", .endpoint = "https://host/path"};

Delivery failed(std::uint32_t status = 500, std::optional<Duration> retry_after = {}) {
    return {
        .kind = Delivery::Kind::Failed, .status = status, .retry_after = retry_after, .error = "It failed."};
}

ScriptedCarrier::Script always(const Delivery& delivery) {
    return [delivery](const Parcel&) { return ScriptedCall{.delivery = delivery}; };
}

TEST(Dispatcher, SendsWorkAtItsTime) {
    DispatchStage stage;
    const SteadyTime due = stage.steady() + 90s;
    stage.store().add({"a", stage.now() + 90s});
    stage.pass(89'999ms);
    EXPECT_THAT(stage.carrier().arrivals(), IsEmpty());

    stage.pass(2ms);

    ASSERT_THAT(stage.carrier().arrivals(), SizeIs(1));
    EXPECT_EQ(stage.carrier().arrivals()[0].arrived, due);
    EXPECT_EQ(stage.carrier().arrivals()[0].payload, "payload of a");
    EXPECT_EQ(stage.store().work("a").state, WorkState::Sent);
    EXPECT_THAT(stage.metrics().latenesses, ElementsAre(0ms));
}

TEST(Dispatcher, SendsWorkThatComesWithATimeBeforeTheOneItWaitsFor) {
    DispatchStage stage;
    stage.store().add({"later", stage.now() + 50s});
    stage.pass(1s);

    stage.store().add({"sooner", stage.now() + 1s});
    stage.pass(1001ms);

    ASSERT_THAT(stage.carrier().arrivals(), SizeIs(1));
    EXPECT_EQ(stage.carrier().arrivals()[0].event_id, "sooner");
}

TEST(Dispatcher, AsksTheStoreNothingWhileNothingHappens) {
    DispatchStage stage;
    stage.store().add({"a", stage.now()});
    stage.pass(1min);
    const std::size_t calls = stage.store().calls();

    stage.pass(24h);

    EXPECT_EQ(stage.store().calls(), calls);
}

TEST(Dispatcher, WritesDownEveryAttempt) {
    DispatchStage stage;
    stage.carrier().set_script([&](const Parcel&) {
        const bool first = stage.carrier().arrivals().empty();
        return ScriptedCall{.answers = 30ms,
                            .delivery = first ? failed() : Delivery{Delivery::Kind::Done, 200}};
    });

    stage.store().add({"a", stage.now(), "pool", "config", kRoute});
    stage.pass(6s);

    const auto audit = stage.store().audit("a");
    ASSERT_THAT(audit, SizeIs(2));
    EXPECT_EQ(audit[0],
              (AuditLine{.attempt = 1, .status = 500, .latency = 30ms, .by = "node", .error = "It failed."}));
    EXPECT_EQ(audit[1], (AuditLine{.attempt = 2, .status = 200, .latency = 30ms, .by = "node"}));
    EXPECT_EQ(stage.metrics().retried_count, 1);
    EXPECT_EQ(stage.metrics().sent_count, 1);
    EXPECT_THAT(stage.metrics().latenesses, SizeIs(1)) << "Only the first attempt says how late it is.";
}

TEST(Dispatcher, GivesUpWhenTheScheduleOfTheConfigEnds) {
    DispatchStage stage;
    stage.store().put_schedule("config", RetrySchedule{{1s, 2s}});
    stage.carrier().set_script(always(failed()));

    stage.store().add({"a", stage.now(), "pool", "config", kRoute});
    stage.pass(1min);

    EXPECT_EQ(stage.store().work("a").state, WorkState::Dead);
    EXPECT_THAT(stage.store().audit("a"), SizeIs(3));
    EXPECT_EQ(stage.metrics().died_count, 1);
}

TEST(Dispatcher, DoesNotTryAgainWhatIsRefused) {
    DispatchStage stage;
    stage.carrier().set_script(always({.kind = Delivery::Kind::Refused, .status = 404, .error = "No."}));

    stage.store().add({"a", stage.now(), "pool", "config", kRoute});
    stage.pass(1s);

    EXPECT_EQ(stage.store().work("a").state, WorkState::Dead);
    EXPECT_THAT(stage.store().audit("a"), SizeIs(1));
}

TEST(Dispatcher, GivesUpWorkThatNothingHereCanCarry) {
    DispatchStage stage;

    stage.store().add({.event_id = "a", .scheduled = stage.now(), .target = TargetKind::Kafka});
    stage.pass(1s);

    EXPECT_EQ(stage.store().work("a").state, WorkState::Dead);
    EXPECT_EQ(stage.store().audit("a").at(0).action, AuditLine::Action::GivenUp);
}

TEST(Dispatcher, DoesNotSendWhatHasExpired) {
    DispatchStage stage;
    (void)stage.store().hold({SubjectKind::Pool, "pool"}, {});
    stage.store().add({.event_id = "a", .scheduled = stage.now(), .expires_after = 10s});
    stage.store().add({.event_id = "b", .scheduled = stage.now(), .expires_after = 20s});
    stage.pass(10s);

    (void)stage.store().release({SubjectKind::Pool, "pool"}, "me");
    stage.pass(1s);

    EXPECT_EQ(stage.store().work("a").state, WorkState::Expired);
    EXPECT_EQ(stage.store().work("b").state, WorkState::Sent);
    EXPECT_EQ(stage.metrics().died_count, 1);
}

TEST(Dispatcher, DoesNotBeginWhatExpiresWhileItConnects) {
    DispatchStage stage;
    stage.carrier().set_script([](const Parcel&) { return ScriptedCall{.connects = 1s}; });

    stage.store().add({.event_id = "a", .scheduled = stage.now(), .expires_after = 900ms});
    stage.pass(2s);

    EXPECT_EQ(stage.store().work("a").state, WorkState::Expired);
    EXPECT_THAT(stage.carrier().arrivals(), IsEmpty());
}

TEST(Dispatcher, DoesNotBeginACallMoreThanThreeSecondsAfterItsClaim) {
    DispatchStage stage;
    int calls = 0;
    stage.carrier().set_script(
        [&](const Parcel&) { return ScriptedCall{.connects = ++calls == 1 ? 3s : 2900ms}; });

    stage.store().add({"a", stage.now(), "pool", "config", kRoute});
    stage.pass(10s);

    EXPECT_EQ(stage.carrier().refused(), 1U);
    EXPECT_EQ(stage.store().work("a").state, WorkState::Sent);
    EXPECT_EQ(stage.store().work("a").attempts, 1U) << "What was not sent is no attempt.";
    EXPECT_THAT(stage.store().audit("a"), SizeIs(1));
}

TEST(Dispatcher, SendsNothingThatIsPausedUntilItIsResumed) {
    for (const Subject& subject :
         {Subject{SubjectKind::Config, "config"}, Subject{SubjectKind::Pool, "pool"},
          Subject{SubjectKind::Host, "host"}, Subject{SubjectKind::Endpoint, kRoute.endpoint}}) {
        DispatchStage stage;
        (void)stage.store().hold(subject, {});
        stage.store().add({"a", stage.now(), "pool", "config", kRoute});
        stage.store().add({"b", stage.now(), "other", "other", {"other", "other"}});
        stage.pass(1h);
        EXPECT_EQ(stage.store().work("a").state, WorkState::Pending);
        EXPECT_EQ(stage.store().work("b").state, WorkState::Sent);

        (void)stage.store().release(subject, "me");
        stage.pass(1ms);

        EXPECT_EQ(stage.store().work("a").state, WorkState::Sent);
    }
}

TEST(Dispatcher, KeepsAPauseOverARestart) {
    DispatchStage stage;
    (void)stage.store().hold({SubjectKind::Pool, "pool"}, {});
    stage.store().add({"a", stage.now()});
    stage.pass(1s);

    stage.stop();
    stage.start();
    stage.pass(1s);
    EXPECT_EQ(stage.store().work("a").state, WorkState::Pending);
    (void)stage.store().release({SubjectKind::Pool, "pool"}, "me");
    stage.pass(1s);

    EXPECT_EQ(stage.store().work("a").state, WorkState::Sent);
}

TEST(Dispatcher, ParksAnEndpointThatIsGoneUntilItIsResumed) {
    DispatchStage stage;
    stage.carrier().set_script(always({.kind = Delivery::Kind::Gone, .status = 410, .error = "Gone."}));
    stage.store().add({"a", stage.now(), "pool", "config", kRoute});
    stage.pass(1s);
    stage.store().add({"b", stage.now(), "pool", "config", kRoute});
    stage.pass(1h);
    EXPECT_EQ(stage.store().work("a").state, WorkState::Parked);
    EXPECT_EQ(stage.store().work("b").state, WorkState::Parked);
    EXPECT_THAT(stage.carrier().arrivals(), SizeIs(1));

    stage.carrier().set_script({});
    (void)stage.store().release({SubjectKind::Endpoint, kRoute.endpoint}, "me");
    stage.pass(1s);

    EXPECT_EQ(stage.store().in_state(WorkState::Sent), 2U);
}

TEST(Dispatcher, NeverUndercutsWhatAnEndpointAskedFor) {
    DispatchStage stage;
    int calls = 0;
    stage.carrier().set_script([&](const Parcel&) {
        return ++calls == 1 ? ScriptedCall{.delivery = failed(429, 100s)} : ScriptedCall{};
    });
    stage.store().add({"a", stage.now(), "pool", "config", kRoute});
    stage.pass(1s);
    stage.store().add({"b", stage.now(), "pool", "config", kRoute});
    stage.store().add({"c", stage.now(), "pool", "config", {"host", "https://host/other"}});

    stage.pass(3min);

    const auto& arrivals = stage.carrier().arrivals();
    ASSERT_THAT(arrivals, SizeIs(4));
    EXPECT_EQ(arrivals[1].event_id, "c") << "Others are not kept.";
    EXPECT_GE(arrivals[2].arrived, arrivals[0].arrived + 100s);
    EXPECT_GE(arrivals[3].arrived, arrivals[0].arrived + 100s);
}

TEST(Dispatcher, TellsOnceThatAnEndpointFailsAndThatItIsBack) {
    DispatchStage stage;
    stage.carrier().set_script(always(failed()));
    for (const auto* const event : {"a", "b", "c", "d", "e", "f", "g"}) {
        stage.store().add({event, stage.now(), "pool", "config", kRoute});
    }
    stage.pass(1min);
    EXPECT_EQ(stage.dispatcher().figures().failing_endpoints, 1U);

    stage.carrier().set_script({});
    stage.pass(24h);

    EXPECT_EQ(stage.store().in_state(WorkState::Sent), 7U);
    EXPECT_EQ(stage.dispatcher().figures().failing_endpoints, 0U);
    EXPECT_THAT(stage.log().lines(),
                ElementsAre("WARN Dispatcher - Endpoint https://host/path fails: It failed.",
                            "INFO Dispatcher - Endpoint https://host/path is back."));
}

TEST(Dispatcher, TellsOnceThatTheStoreFailsAndThatItIsBack) {
    DispatchStage stage;
    stage.pass(1s);
    stage.store().fail_at(1, NaiveWorkStore::Fails::Before, true);
    stage.store().add({"a", stage.now()});
    stage.pass(1min);
    const int failures = stage.metrics().failures;
    EXPECT_GT(failures, 3);
    EXPECT_LT(failures, 40) << "It is asked less and less often.";

    stage.store().heal();
    stage.pass(6s);

    EXPECT_EQ(stage.store().work("a").state, WorkState::Sent);
    EXPECT_THAT(
        stage.log().lines(),
        ElementsAre("ERROR Dispatcher - The store fails, nothing more is sent: a test broke the store.",
                    "INFO Dispatcher - The store is back, sending goes on."));
}

TEST(Dispatcher, HasNoMoreUnderWayThanItMay) {
    DispatchStage::Setting setting;
    setting.options.in_flight_max = 10;
    DispatchStage stage{setting};
    stage.carrier().set_script([](const Parcel&) { return ScriptedCall{.answers = 1s}; });
    for (int i = 0; i < 35; ++i) {
        stage.store().add({"e" + std::to_string(i), stage.now()});
    }
    stage.pass(500ms);
    EXPECT_EQ(stage.dispatcher().figures().in_flight, 10U);
    EXPECT_THAT(stage.carrier().arrivals(), SizeIs(10));

    stage.pass(4s);

    EXPECT_EQ(stage.store().in_state(WorkState::Sent), 35U);
}

}  // namespace
}  // namespace sluice::test
