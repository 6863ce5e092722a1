#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace sluice {

// Limits are decided in whole microseconds: a clock of milliseconds would round what refills in between.
using Wait = std::chrono::microseconds;
using Moment = std::chrono::sys_time<Wait>;

// What a check costs and what a plan allows.
using Tokens = std::int64_t;

// Every number that a rule keeps or computes stays below this, so that a script whose only numbers are
// doubles (exact below 2^53) can follow it step by step.
inline constexpr std::int64_t kExactMax = std::int64_t{1} << 52;

// Names one holder of a place under a concurrency plan: a random number below kExactMax, which no other
// process, node or store has given. 0 stands for none.
enum class LeaseId : std::uint64_t {};

// One question to one rule. A cost of 0 is a peek: answered as a cost of 1 would be, and never charged.
// REQUIRES: 1970 <= now < 1970 + kExactMax microseconds, 0 <= cost <= the rule's limit.
struct Ask {
    Moment now;
    Tokens cost = 1;
    LeaseId lease{};  // For concurrency only: who would hold the places.

    [[nodiscard]] Tokens weight() const { return cost == 0 ? 1 : cost; }
    [[nodiscard]] bool is_peek() const { return cost == 0; }
};

// How a key stands with one rule.
struct Standing {
    bool allowed = false;
    Tokens limit = 0;
    Tokens remaining = 0;  // After this check, if it was allowed and is charged.
    Wait retry_after{};    // Denied: until the first moment at which the same check could pass. Never 0.
    Wait reset_after{};    // Until nothing is held against the key any more.

    bool operator==(const Standing&) const = default;
};

// Why a rule or a plan cannot be as it was asked for: one sentence for the administrator.
struct PlanError {
    std::string what;
};

// A rule decides in two steps, so that a chain can look at all of its plans before it charges any:
//     Standing look(const State&, const Ask&) const;    changes nothing
//     void charge(State&, const Ask&) const;            REQUIRES: look() allowed it, and it is no peek
// Step is both at once, as the scripts and functions of other stores do it. When denied, or for a peek,
// `next` equals the state that was given.
template <class State>
struct Step {
    State next;
    Standing standing;
};

template <class Rule>
[[nodiscard]] Step<typename Rule::State> decide(const Rule& rule, const typename Rule::State& state,
                                                const Ask& ask) {
    Step<typename Rule::State> step{state, rule.look(state, ask)};
    if (step.standing.allowed && !ask.is_peek()) {
        rule.charge(step.next, ask);
    }
    return step;
}

inline constexpr std::int64_t microseconds_of(Moment moment) { return moment.time_since_epoch().count(); }
inline constexpr Moment moment_of(std::int64_t microseconds) { return Moment{Wait{microseconds}}; }

// This and Divisor: REQUIRES: number >= 0, divisor > 0, their sum below 2^63.
inline constexpr std::int64_t divide_up(std::int64_t number, std::int64_t divisor) {
    return (number + divisor - 1) / divisor;
}

// A number that much is divided by: two multiplications take half the time of a division. Exact.
class Divisor {
public:
    explicit constexpr Divisor(std::int64_t value)
        : value_{value}, inverse_{~std::uint64_t{0} / static_cast<std::uint64_t>(value)} {}

    [[nodiscard]] constexpr std::int64_t down(std::int64_t number) const {
        __extension__ using Wide = unsigned __int128;
        // inverse_ lies less than 1 below 2^64 / value_, so that this is the quotient or one less.
        const Wide product = static_cast<Wide>(static_cast<std::uint64_t>(number)) * inverse_;
        const auto least = static_cast<std::int64_t>(product >> 64U);
        return least + (number - least * value_ >= value_ ? 1 : 0);
    }
    [[nodiscard]] constexpr std::int64_t up(std::int64_t number) const { return down(number + value_ - 1); }

    bool operator==(const Divisor&) const = default;

private:
    std::int64_t value_;
    std::uint64_t inverse_;
};

}  // namespace sluice
