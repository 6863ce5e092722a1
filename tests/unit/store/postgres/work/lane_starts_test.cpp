#include "store/postgres/work/lane_starts.hpp"

#include <gtest/gtest.h>

#include "store/postgres/work/work_words.hpp"
#include "support/work_words.hpp"

namespace sluice::postgres {
namespace {

using namespace std::chrono_literals;
using test::kDue;
using test::kNoon;

const LaneStarts::Steady::time_point kThen{100s};

TEST(LaneStarts, AreTheBeginningOfTimeUntilSomebodyHasLooked) {
    LaneStarts starts;

    EXPECT_EQ(starts.of(kDue, kThen), Instant{});
    starts.nothing_before(kDue, kNoon);
    EXPECT_EQ(starts.of(kDue, kThen + 1s), kNoon);
}

TEST(LaneStarts, AreNotBelievedForLong) {
    LaneStarts starts;
    static_cast<void>(starts.of(kDue, kThen));
    starts.nothing_before(kDue, kNoon);

    EXPECT_EQ(starts.of(kDue, kThen + LaneStarts::kBelieved), Instant{});
}

TEST(LaneStarts, GoBackToWhatComesIn) {
    LaneStarts starts;
    static_cast<void>(starts.of(kDue, kThen));
    starts.nothing_before(kDue, kNoon);

    starts.came_in(kDue, kNoon + 1s);
    EXPECT_EQ(starts.of(kDue, kThen), kNoon);
    starts.came_in(kDue, kNoon - 1h);
    EXPECT_EQ(starts.of(kDue, kThen), kNoon - 1h);
}

TEST(LaneStarts, RememberWhatComesInWhileSomebodyLooks) {
    LaneStarts starts;
    static_cast<void>(starts.of(kDue, kThen));

    starts.came_in(kDue, kNoon - 1h);
    starts.nothing_before(kDue, kNoon);

    EXPECT_EQ(starts.of(kDue, kThen), kNoon - 1h);
    starts.nothing_before(kDue, kNoon);
    EXPECT_EQ(starts.of(kDue, kThen), kNoon);
}

TEST(WorkWords, AreReadAsTheyAreSaid) {
    const Lane lane{LaneKind::Endpoint, "https://h/a b"};

    const auto waits = parse_work_words(say_work_waits(kNoon, 7));
    const auto filled = parse_work_words(say_lanes_filled({lane}, 7).front());
    const auto by_sql = parse_work_words("work 12 ");

    ASSERT_TRUE(waits && filled && by_sql);
    EXPECT_EQ(std::get<WorkWaits>(waits->news).due, kNoon);
    EXPECT_EQ(waits->node, 7);
    EXPECT_EQ(std::get<LaneFilled>(filled->news).lane, lane);
    EXPECT_EQ(by_sql->node, std::nullopt);
    EXPECT_TRUE(parse_work_words("work terms 7"));
    EXPECT_TRUE(std::holds_alternative<LanesFilled>(parse_work_words("work lanes 7")->news));
}

TEST(WorkWords, NameNoLaneThatIsTooLongForTheServer) {
    const Lane lane{LaneKind::Endpoint, std::string(5000, 'x')};

    const auto words = say_lanes_filled({lane}, 7);

    ASSERT_EQ(words.size(), 1U);
    EXPECT_EQ(words.front(), "work lanes 7");
}

TEST(WorkWords, PassOverWhatNobodyKnows) {
    for (const char* said : {"", "work", "work lane 7 99 x", "work lane", "room 1 2 a", "work later 3"}) {
        EXPECT_EQ(parse_work_words(said), std::nullopt) << said;
    }
}

}  // namespace
}  // namespace sluice::postgres
