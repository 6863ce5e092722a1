#include <algorithm>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/governor/governor.hpp"

namespace sluice::test {
namespace {

// Remembers every change with its time, and asks the whole list: the rules in their longest form, for a clock
// that only goes forward.
class NaiveGovernor {
public:
    explicit NaiveGovernor(const GovernorPolicy& policy) : policy_{policy} {}

    [[nodiscard]] GovernorVerdict verdict(Ticks now) const {
        if (policy_.changes_max == 0) {
            return GovernorVerdict::Disabled;
        }
        if (!changes_.empty() && now < changes_.back() + policy_.cooldown) {
            return GovernorVerdict::Cooldown;
        }
        return counted(now) < policy_.changes_max ? GovernorVerdict::Allowed : GovernorVerdict::WindowFull;
    }

    void record(Ticks now) {
        if (counted(now) == 0) {
            opened_ = now;
        }
        changes_.push_back(now);
    }

private:
    [[nodiscard]] std::int64_t counted(Ticks now) const {
        if (changes_.empty() || now >= opened_ + policy_.window) {
            return 0;
        }
        return std::count_if(changes_.begin(), changes_.end(),
                             [&](Ticks change) { return change >= opened_; });
    }

    GovernorPolicy policy_;
    std::vector<Ticks> changes_;
    Ticks opened_ = 0;
};

GovernorPolicy any_policy() {
    return {.cooldown = *rc::gen::inRange<Ticks>(0, 20),
            .changes_max = *rc::gen::inRange<std::int64_t>(0, 5),
            .window = *rc::gen::inRange<Ticks>(1, 60)};
}

RC_GTEST_PROP(GovernorProperty, RulesLikeTheWholeListOfChanges, ()) {
    const GovernorPolicy policy = any_policy();
    const auto pauses = *rc::gen::container<std::vector<Ticks>>(rc::gen::inRange<Ticks>(0, 15));
    const auto manual = *rc::gen::inRange<std::size_t>(2, 9);
    NaiveGovernor naive{policy};
    GovernorState state;
    Ticks now = 1000;

    for (std::size_t i = 0; i < pauses.size(); ++i) {
        now += pauses[i];
        const bool by_hand = i % manual == 0;
        const auto step = decide(state, policy, now);
        RC_ASSERT(step.ruling.verdict == naive.verdict(now));
        state = by_hand ? record(state, policy, now) : step.next;
        if (by_hand || step.ruling.verdict == GovernorVerdict::Allowed) {
            naive.record(now);
        }
    }
}

RC_GTEST_PROP(GovernorProperty, SaysExactlyHowLongABlockLasts, ()) {
    const GovernorPolicy policy = any_policy();
    const auto pauses = *rc::gen::container<std::vector<Ticks>>(rc::gen::inRange<Ticks>(-30, 30));
    GovernorState state;
    Ticks now = 100'000;

    for (const Ticks pause : pauses) {
        now += pause;  // The clock may step back.
        const auto step = decide(state, policy, now);
        const auto [verdict, remaining] = step.ruling;
        if (verdict == GovernorVerdict::Cooldown || verdict == GovernorVerdict::WindowFull) {
            RC_ASSERT(remaining >= 1);
            RC_ASSERT(remaining <= std::max(policy.cooldown, policy.window));
            RC_ASSERT(look(step.next, policy, now + remaining - 1).verdict == verdict);
            RC_ASSERT(look(step.next, policy, now + remaining).verdict != verdict);
        }
        state = step.next;
    }
}

}  // namespace
}  // namespace sluice::test
