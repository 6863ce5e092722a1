#pragma once

#include <ostream>
#include <stdexcept>
#include <string_view>

#include "core/limits/chain.hpp"

namespace sluice {

// What GoogleTest shows of a standing.
inline void PrintTo(const Standing& standing, std::ostream* out) {
    *out << (standing.allowed ? "allowed, " : "denied, ") << standing.remaining << " of " << standing.limit
         << " left, retry after " << standing.retry_after.count() << " us, reset after "
         << standing.reset_after.count() << " us";
}

}  // namespace sluice

// Short ways to say what tests of limits talk about.
namespace sluice::test {

using namespace std::chrono_literals;

// Midnight of a Sunday in 2025: the start of a window of every size that divides a day.
inline constexpr Moment kMidnight = std::chrono::sys_days{std::chrono::June / 1 / 2025};

// The value of a result that a test cannot go on without.
template <class T>
T good(Result<T, PlanError> result) {
    if (!result) {
        throw std::runtime_error{"refused: " + result.error().what};
    }
    return std::move(result).value();
}

inline TokenBucket bucket(Tokens capacity, Tokens tokens, Wait period) {
    return good(TokenBucket::make(capacity, {tokens, period}));
}
inline FixedWindow aligned(Tokens limit, Wait size) {
    return good(FixedWindow::make(limit, good(WindowCut::sized(WindowKind::Aligned, size))));
}
inline FixedWindow from_first_hit(Tokens limit, Wait size) {
    return good(FixedWindow::make(limit, good(WindowCut::sized(WindowKind::FirstHit, size))));
}
inline FixedWindow calendar(Tokens limit, WindowKind unit) {
    return good(FixedWindow::make(limit, WindowCut::calendar(unit)));
}

inline Plan plan(std::string_view name, const LimitRule& rule, PlanTraits traits = {}) {
    return good(Plan::make(name, rule, traits));
}
inline constexpr PlanTraits kShadow{OnStoreFailure::Open, true};

// A rule with the state of one key.
template <class Rule>
class Keyed {
public:
    explicit Keyed(Rule rule) : rule_{std::move(rule)}, state_{rule_.fresh()} {}

    Standing take(Moment now, Tokens cost = 1) { return take_for(LeaseId{}, now, cost); }
    Standing take_for(LeaseId lease, Moment now, Tokens cost = 1) {
        auto step = decide(rule_, state_, Ask{now, cost, lease});
        state_ = std::move(step.next);
        return step.standing;
    }
    Standing peek(Moment now) { return take(now, 0); }
    void refund(Moment now, Tokens cost) { rule_.refund(state_, Ask{now, cost}); }

    [[nodiscard]] Moment idle_at() const { return rule_.idle_at(state_); }
    [[nodiscard]] const typename Rule::State& state() const { return state_; }
    typename Rule::State& state() { return state_; }
    [[nodiscard]] const Rule& rule() const { return rule_; }

private:
    Rule rule_;
    typename Rule::State state_;
};

}  // namespace sluice::test
