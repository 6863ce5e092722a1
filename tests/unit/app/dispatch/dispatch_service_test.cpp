#include "app/dispatch/dispatch_service.hpp"

#include <future>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/fake_work_store.hpp"
#include "support/gate.hpp"
#include "support/hand_clock.hpp"
#include "support/recording_log.hpp"
#include "support/slot_words.hpp"

namespace sluice {
namespace {

using namespace test;
using ::testing::ElementsAre;

const Subject kHost{SubjectKind::Host, "pay.example"};

class DispatchServiceTest : public testing::Test {
protected:
    explicit DispatchServiceTest(DispatchServiceOptions options = {})
        : service_{options, {store_, clock_, log_, *runtime_, [this] { return figures_(); }}} {}

    template <class T, class Call>
    static Result<T, DispatchError> awaited(Call call) {
        std::promise<Result<T, DispatchError>> answered;
        call([&](Result<T, DispatchError> answer) { answered.set_value(std::move(answer)); });
        return answered.get_future().get();
    }
    auto resume(const Subject& subject) {
        return awaited<std::monostate>([&](auto done) { service_.resume(subject, "ann", std::move(done)); });
    }
    auto pause(const Subject& subject) {
        return awaited<std::monostate>([&](auto done) { service_.pause(subject, "ann", std::move(done)); });
    }

    const std::unique_ptr<Runtime> runtime_ = make_machine_runtime();
    HandClock clock_{kNoon};
    RecordingLog log_;
    FakeWorkStore store_;
    test::Gate gate_;
    std::function<DispatchFigures()> figures_ = [] { return DispatchFigures{7, 0, {}}; };
    DispatchService service_;
};

TEST_F(DispatchServiceTest, PausesWithTheTimeAndWhoDidIt) {
    ASSERT_TRUE(pause(kHost));

    EXPECT_EQ(store_.kept.holds.at(kHost), (Hold{Hold::Why::Paused, kNoon, "ann"}));
}

TEST_F(DispatchServiceTest, ResumesAHostWithTheEndpointsOfIt) {
    for (const char* endpoint :
         {"https://pay.example:443/a", "http://pay.example/b", "https://pay.example.org/a",
          "https://epay.example/a", "https://other.example/pay.example"}) {
        store_.kept.holds[{SubjectKind::Endpoint, endpoint}] = {Hold::Why::Gone};
    }
    ASSERT_TRUE(pause(kHost));

    ASSERT_TRUE(resume(kHost));

    EXPECT_EQ(store_.kept.holds.size(), 3U);
    EXPECT_THAT(store_.deeds, ElementsAre("hold 3 pay.example by ann", "release 3 pay.example by ann",
                                          "release 4 http://pay.example/b by ann",
                                          "release 4 https://pay.example:443/a by ann"));
}

TEST_F(DispatchServiceTest, ResumesAHostThatIsNamedByItsAddress) {
    for (const char* endpoint : {"http://[2001:db8::1]:80/a", "http://192.0.2.7:8080/a", "http://[::1]/a"}) {
        store_.kept.holds[{SubjectKind::Endpoint, endpoint}] = {Hold::Why::Gone};
    }

    std::size_t left = store_.kept.holds.size();
    for (const char* host : {"2001:db8::1", "192.0.2.7:8080", "[::1]"}) {
        ASSERT_TRUE(resume({SubjectKind::Host, host}));

        EXPECT_EQ(store_.kept.holds.size(), --left) << host;
    }
}

TEST_F(DispatchServiceTest, ResumesNothingButTheEndpointThatIsNamed) {
    const Subject endpoint{SubjectKind::Endpoint, "http://pay.example/a"};
    store_.kept.holds[endpoint] = {Hold::Why::Gone};
    store_.kept.holds[kHost] = {};

    ASSERT_TRUE(resume(endpoint));

    EXPECT_EQ(store_.kept.holds.count(kHost), 1U);
    EXPECT_EQ(store_.kept.holds.count(endpoint), 0U);
}

TEST_F(DispatchServiceTest, PassesTheRestOnAsItIs) {
    store_.dead = 3;
    store_.lane_counts = {{LaneKind::Due, 5}};
    WorkFilter filter;
    filter.host = "h";
    ReplayRequest request;
    request.host = "h";

    EXPECT_TRUE(awaited<WorkPage>([&](auto done) { service_.list(filter, std::move(done)); }));
    const auto replayed =
        awaited<std::uint64_t>([&](auto done) { service_.replay(request, "ann", std::move(done)); });
    EXPECT_TRUE(awaited<std::monostate>(
        [&](auto done) { service_.put_rate(kHost, GateTerms{20}, "ann", std::move(done)); }));
    const auto overview = awaited<DispatchOverview>([&](auto done) { service_.overview(std::move(done)); });

    EXPECT_EQ(store_.filter.host, "h");
    EXPECT_EQ(store_.replayed.host, "h");
    EXPECT_EQ(replayed.value(), 3U);
    ASSERT_TRUE(overview);
    EXPECT_EQ(overview->terms->gates.at(kHost), GateTerms{20});
    EXPECT_EQ(overview->counts.at(0).works, 5U);
    EXPECT_EQ(overview->figures.in_flight, 7U);
}

TEST_F(DispatchServiceTest, SaysThatTheStoreFailedAndLogsWhy) {
    store_.fails = true;

    EXPECT_EQ(pause(kHost).error(), DispatchError::Unavailable);
    EXPECT_EQ(resume(kHost).error(), DispatchError::Unavailable);

    EXPECT_TRUE(log_.has("WARN Dispatch - The store failed: the disk is gone"));
}

// One call at a time, and one that waits.
class BusyDispatchService : public DispatchServiceTest {
protected:
    BusyDispatchService() : DispatchServiceTest{{1, std::chrono::seconds{60}, 1}} {
        figures_ = [this] {
            gate_.pass();
            return DispatchFigures{};
        };
    }
};

TEST_F(BusyDispatchService, RefusesWhatDoesNotFitItsQueue) {
    std::promise<void> first;
    std::promise<void> second;
    service_.overview([&](const auto&) { first.set_value(); });
    gate_.await_arrival();
    service_.overview([&](const auto&) { second.set_value(); });

    const auto third = pause(kHost);
    gate_.let_go();
    gate_.let_go();
    first.get_future().get();
    second.get_future().get();

    EXPECT_EQ(third.error(), DispatchError::Overloaded);
    EXPECT_TRUE(store_.deeds.empty());
}

TEST_F(DispatchServiceTest, RefusesWhatComesAfterItsEnd) {
    service_.stop();

    EXPECT_EQ(pause(kHost).error(), DispatchError::Overloaded);
}

}  // namespace
}  // namespace sluice
