// What the dispatcher remembers of gates, endpoints and lanes, and the loop that it runs in.
#include <gtest/gtest.h>

#include "app/dispatch/endpoint_book.hpp"
#include "app/dispatch/gate_book.hpp"
#include "app/dispatch/lane_book.hpp"
#include "app/dispatch/wake_loop.hpp"
#include "support/virtual_runtime.hpp"

namespace sluice::test {
namespace {

using namespace std::chrono_literals;

constexpr SteadyTime kNow{1000s};
const Subject kPool{SubjectKind::Pool, "pool"};

DispatchTerms rated(std::uint32_t rate) {
    DispatchTerms terms;
    terms.gates.insert({kPool, GateTerms{rate}});
    return terms;
}

TEST(GateBook, LetsPassWhereThereIsNoGate) {
    GateBook book;

    EXPECT_EQ(book.next(kPool), SteadyTime::min());
    EXPECT_EQ(book.take(kPool, kNow).permit, 0U);
}

TEST(GateBook, OpensANewGateASecondLater) {
    GateBook book;
    book.be_alone();

    book.apply(rated(5), kNow);

    EXPECT_EQ(book.next(kPool), kNow + 1s);
}

TEST(GateBook, CountsCallsThatWereUnderWayBeforeThereWasAGate) {
    GateBook book;
    book.be_alone();
    const auto pass = book.take(kPool, kNow);

    book.apply(kPool, rated(1), kNow);

    EXPECT_EQ(book.next(kPool), SteadyTime::max());
    book.ended(pass, kNow + 3s);
    EXPECT_EQ(book.next(kPool), kNow + 4s);
}

TEST(GateBook, CountsWhatWasClaimedBeforeThereWasAGate) {
    GateBook book;
    book.be_alone();
    book.count_outside({{"a", {{kPool}, kNow + 20s}}}, kNow, kNow);

    book.apply(rated(1), kNow);

    EXPECT_EQ(book.next(kPool), kNow + 20s);
}

TEST(GateBook, KeepsTheGateClosedUntilNobodyCanGoPastIt) {
    GateBook book;
    book.apply(rated(5), kNow);
    EXPECT_EQ(book.next(kPool), SteadyTime::max());
    EXPECT_EQ(book.next_count(), kNow + GateBook::kOthersBegin);

    book.count_outside({}, kNow + 2s, kNow + 2s);
    EXPECT_EQ(book.next(kPool), SteadyTime::max()) << "What others claimed without it may still begin.";

    book.count_outside({}, kNow + 3s, kNow + 3s);
    EXPECT_EQ(book.next(kPool), kNow + 4s);
    EXPECT_EQ(book.next_count(), SteadyTime::max());
}

TEST(GateBook, FreesPermitsASecondAfterACallOfOthersIsOver) {
    GateBook book;
    book.be_alone();
    book.apply(rated(1), kNow);
    book.count_outside({{"a", {{kPool}, kNow + 20s}}}, kNow, kNow);
    EXPECT_EQ(book.next(kPool), kNow + 20s);
    EXPECT_EQ(book.next_count(), kNow + 1s);

    book.count_outside({}, kNow + 3s, kNow + 3s);

    EXPECT_EQ(book.next(kPool), kNow + 4s);
    EXPECT_EQ(book.next_count(), SteadyTime::max());
}

TEST(GateBook, DoesNotCountACallTwiceThatItKnows) {
    GateBook book;
    book.be_alone();
    book.apply(rated(2), kNow);
    const OutsideCalls calls{{"a", {{kPool}, kNow + 20s}}};

    book.count_outside(calls, kNow, kNow);
    book.count_outside(calls, kNow, kNow);

    EXPECT_EQ(book.next(kPool), kNow + 1s);
}

TEST(GateBook, HasNothingToLearnOfCallsThatPassNoGate) {
    GateBook book;

    book.count_outside({{"a", {{kPool}, kNow + 20s}}}, kNow, kNow);

    EXPECT_EQ(book.next_count(), SteadyTime::max());
}

TEST(GateBook, KeepsWhatIsLentUntilItIsOverOrEnded) {
    GateBook book;
    book.be_alone();
    book.apply(rated(1), kNow - 1s);
    book.lend(book.take(kPool, kNow), "permit", kNow + 16s, kNow);
    EXPECT_EQ(book.next(kPool), kNow + 16s);

    book.end_outside("permit", kNow + 2s);
    book.end_outside("permit", kNow + 9s);

    EXPECT_EQ(book.next(kPool), kNow + 3s);
}

TEST(GateBook, KeepsPermitsOfAGateThatIsTakenAwayForItsReturn) {
    GateBook book;
    book.be_alone();
    book.apply(rated(1), kNow - 1s);
    const auto gated = book.take(kPool, kNow);
    book.apply(kPool, {}, kNow);
    EXPECT_EQ(book.next(kPool), SteadyTime::min());
    const auto ungated = book.take(kPool, kNow);

    book.apply(rated(1), kNow);

    EXPECT_EQ(book.next(kPool), SteadyTime::max());
    book.ended(gated, kNow + 2s);
    EXPECT_EQ(book.next(kPool), SteadyTime::max());
    book.ended(ungated, kNow + 3s);
    EXPECT_EQ(book.next(kPool), kNow + 4s);
}

TEST(EndpointBook, KnowsNothingOfTheEndpointWithoutAName) {
    EndpointBook book;

    for (int i = 0; i < 100; ++i) {
        book.begin({}, 1, kNow);
    }

    EXPECT_EQ(book.next({}), SteadyTime::min());
}

TEST(EndpointBook, ForgetsWhomNobodyCallsWhenItIsFull) {
    EndpointBook book;
    book.begin("busy", 1, kNow);
    for (std::size_t i = 0; i < EndpointBook::kGuardsMax; ++i) {
        const std::string name = std::to_string(i);
        for (int calls = 0; calls < 5; ++calls) {
            book.begin(name, 8, kNow);
            book.failed(name, kNow);
        }
    }

    EXPECT_LT(book.failing(), 3U);
    EXPECT_EQ(book.next("busy"), SteadyTime::max());
}

TEST(LaneBook, GivesLanesInTheOrderOfTheirTimesThenOneAfterTheOther) {
    LaneBook book;
    const Lane a{LaneKind::Pool, "a"};
    const Lane b{LaneKind::Pool, "b"};
    book.put(b, Awaits::Time, kNow);
    book.put(a, Awaits::Permit, kNow);
    EXPECT_EQ(book.ready(kNow), b);

    book.put(b, Awaits::Time, kNow);

    EXPECT_EQ(book.ready(kNow), a);
    book.put(a, Awaits::Permit, kNow + 1s);
    book.put(b, Awaits::Time, kNow + 2s);
    EXPECT_EQ(book.ready(kNow), std::nullopt);
    EXPECT_EQ(book.next_wake(), kNow + 1s);
    book.wake_by(a, kNow + 5s);
    EXPECT_EQ(book.next_wake(), kNow + 1s) << "It was to be looked at earlier anyway.";
    book.wake_all(kNow);
    EXPECT_TRUE(book.ready(kNow));
    book.erase(a);
    book.erase(b);
    EXPECT_EQ(book.next_wake(), SteadyTime::max());
}

TEST(LaneBook, SaysWhenItLeftOutLanesAndHasRoomForThemAgain) {
    LaneBook book;
    const auto lane = [](std::size_t number) { return Lane{LaneKind::Endpoint, std::to_string(number)}; };
    for (std::size_t i = 0; i <= LaneBook::kLanesMax; ++i) {
        book.put(lane(i), Awaits::Guard, kNow);
    }
    EXPECT_FALSE(book.contains(lane(LaneBook::kLanesMax)));
    EXPECT_FALSE(book.is_missing());

    for (std::size_t i = 0; i <= LaneBook::kLanesMax / 2; ++i) {
        book.erase(lane(i));
    }

    EXPECT_TRUE(book.is_missing());
    book.none_missing();
    EXPECT_FALSE(book.is_missing());
}

TEST(WakeLoop, RunsWhenItIsWokenAndAtTheTimeItNamed) {
    HandMomentClock clock{Moment{1000s}};
    VirtualRuntime runtime{1, clock};
    std::vector<SteadyTime> runs;
    WakeLoop loop{runtime, [&] {
                      runs.push_back(runtime.now());
                      return runs.size() < 3 ? runtime.now() + 10s : SteadyTime::max();
                  }};
    runtime.sleep(1s);
    EXPECT_TRUE(runs.empty());

    loop.wake();
    loop.wake();
    runtime.sleep(4s);
    loop.wake();
    runtime.sleep(60s);

    EXPECT_EQ(runs, (std::vector<SteadyTime>{SteadyTime{1001s}, SteadyTime{1005s}, SteadyTime{1015s}}));
    loop.stop();
    loop.wake();
    runtime.sleep(1s);
    EXPECT_EQ(runs.size(), 3U);
}

}  // namespace
}  // namespace sluice::test
