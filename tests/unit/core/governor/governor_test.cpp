#include "core/governor/governor.hpp"

#include <ostream>

#include <gtest/gtest.h>

namespace sluice {

void PrintTo(const GovernorRuling& ruling, std::ostream* out) {
    *out << "{verdict " << static_cast<int>(ruling.verdict) << ", remaining " << ruling.remaining << '}';
}

void PrintTo(const GovernorState& state, std::ostream* out) {
    *out << "{last " << state.last_change << ", window " << state.window_start << ", changes "
         << state.changes << '}';
}

namespace {

constexpr GovernorPolicy kPolicy{.cooldown = 300, .changes_max = 4, .window = 3600};
constexpr GovernorPolicy kNoCooldown{.cooldown = 0, .changes_max = 2, .window = 3600};
constexpr GovernorRuling kAllowed{};

TEST(Governor, AllowsTheFirstChangeAndOpensTheWindowWithIt) {
    const auto step = decide({}, kPolicy, 1000);

    EXPECT_EQ(step.ruling, kAllowed);
    EXPECT_EQ(step.next, (GovernorState{.last_change = 1000, .window_start = 1000, .changes = 1}));
}

TEST(Governor, BlocksUntilTheCooldownEndsAndAllowsAtItsEnd) {
    const auto changed = record({}, kPolicy, 1000);

    EXPECT_EQ(look(changed, kPolicy, 1001), (GovernorRuling{GovernorVerdict::Cooldown, 299}));
    EXPECT_EQ(look(changed, kPolicy, 1299), (GovernorRuling{GovernorVerdict::Cooldown, 1}));
    EXPECT_EQ(look(changed, kPolicy, 1300), kAllowed);
}

TEST(Governor, LeavesTheStateAsItWasWhenItBlocks) {
    const auto changed = record({}, kPolicy, 1000);

    EXPECT_EQ(decide(changed, kPolicy, 1001).next, changed);
}

TEST(Governor, HasNoCooldownAtZero) {
    const auto changed = record({}, kNoCooldown, 1000);

    EXPECT_EQ(look(changed, kNoCooldown, 1000), kAllowed);
}

TEST(Governor, BlocksAFullWindowUntilItsEndAndAllowsAtItsEnd) {
    const auto full = record(record({}, kNoCooldown, 1000), kNoCooldown, 2000);

    EXPECT_EQ(look(full, kNoCooldown, 2000), (GovernorRuling{GovernorVerdict::WindowFull, 2600}));
    EXPECT_EQ(look(full, kNoCooldown, 4599), (GovernorRuling{GovernorVerdict::WindowFull, 1}));
    EXPECT_EQ(look(full, kNoCooldown, 4600), kAllowed);
}

TEST(Governor, StartsTheNextWindowWithTheNextChangeNotWithTheEndOfTheLast) {
    const auto full = record(record({}, kNoCooldown, 1000), kNoCooldown, 2000);

    const auto step = decide(full, kNoCooldown, 9000);

    EXPECT_EQ(step.next, (GovernorState{.last_change = 9000, .window_start = 9000, .changes = 1}));
}

TEST(Governor, BlocksEverythingAtACapOfZero) {
    constexpr GovernorPolicy kNothing{.cooldown = 300, .changes_max = 0, .window = 3600};
    const auto changed = record({}, kNothing, 1000);

    EXPECT_EQ(look({}, kNothing, 1), (GovernorRuling{GovernorVerdict::Disabled, kForever}));
    EXPECT_EQ(look(changed, kNothing, 1001), (GovernorRuling{GovernorVerdict::Disabled, kForever}));
}

TEST(Governor, NamesTheCooldownBeforeTheFullWindow) {
    constexpr GovernorPolicy kOne{.cooldown = 300, .changes_max = 1, .window = 3600};
    const auto changed = record({}, kOne, 1000);

    EXPECT_EQ(look(changed, kOne, 1100).verdict, GovernorVerdict::Cooldown);
    EXPECT_EQ(look(changed, kOne, 1300).verdict, GovernorVerdict::WindowFull);
}

TEST(Governor, RecordsAChangeThatNobodyAskedItAbout) {
    auto state = record({}, kNoCooldown, 1000);
    state = record(state, kNoCooldown, 1001);

    state = record(state, kNoCooldown, 1002);

    EXPECT_EQ(state, (GovernorState{.last_change = 1002, .window_start = 1000, .changes = 3}));
    EXPECT_EQ(look(state, kNoCooldown, 1003).verdict, GovernorVerdict::WindowFull);
}

TEST(Governor, ShowsNoWindowAndNoChangesOnceTheWindowHasEnded) {
    const auto settled = settle(record({}, kPolicy, 1000), kPolicy, 4600);

    EXPECT_EQ(settled, (GovernorState{.last_change = 1000, .window_start = kNever, .changes = 0}));
}

TEST(Governor, DelaysByOneCooldownAtMostWhenTheClockStepsBack) {
    const auto changed = record({}, kPolicy, 1'000'000);

    const auto step = decide(changed, kPolicy, 5000);

    EXPECT_EQ(step.ruling, (GovernorRuling{GovernorVerdict::Cooldown, 300}));
    EXPECT_EQ(look(step.next, kPolicy, 5300), kAllowed);
}

TEST(Governor, KeepsAFullWindowOneWindowAtMostWhenTheClockStepsBack) {
    const auto full = record(record({}, kNoCooldown, 1'000'000), kNoCooldown, 1'000'000);

    const auto step = decide(full, kNoCooldown, 5000);

    EXPECT_EQ(step.ruling, (GovernorRuling{GovernorVerdict::WindowFull, 3600}));
    EXPECT_EQ(look(step.next, kNoCooldown, 8600), kAllowed);
}

TEST(Governor, CountsInMicrosecondsAsWellAsInSeconds) {
    constexpr Ticks kSecond = 1'000'000;
    constexpr Ticks kNow = 4'000'000'000 * kSecond;
    constexpr GovernorPolicy kMicro{
        .cooldown = 86'400 * kSecond, .changes_max = 1000, .window = 3600 * kSecond};
    const auto changed = record({}, kMicro, kNow);

    EXPECT_EQ(look(changed, kMicro, kNow + 1).remaining, 86'400 * kSecond - 1);
}

}  // namespace
}  // namespace sluice
