#pragma once

#include <algorithm>

#include "base/result.hpp"
#include "core/limits/limit_terms.hpp"

namespace sluice {

// So many tokens come back in every period.
struct Refill {
    Tokens tokens = 1;
    Wait period{1'000'000};
};

// A bucket of at most `capacity` tokens that refills steadily.
//
// With the refill in lowest terms (N tokens per period) one token is `period` units and each microsecond adds
// N units: no fraction is ever lost, however often the bucket is looked at. Pure: reads no clock, allocates
// nothing.
// Thread safety: immutable after make().
class TokenBucket {
public:
    // How full the bucket was, and when. A key that is not known has a full bucket.
    struct State {
        std::int64_t level = 0;  // In units.
        std::int64_t at = 0;     // Microseconds since 1970.

        bool operator==(const State&) const = default;
    };

    // Fails unless all are positive, capacity times the period in lowest terms is below kExactMax, and so is
    // what one microsecond adds.
    static Result<TokenBucket, PlanError> make(Tokens capacity, Refill refill);

    [[nodiscard]] Tokens limit() const { return capacity_; }
    [[nodiscard]] std::int64_t unit() const { return unit_; }    // Units in a token.
    [[nodiscard]] std::int64_t speed() const { return speed_; }  // Units that a microsecond adds.
    [[nodiscard]] State fresh() const { return {full_, 0}; }

    // A clock that has stepped back adds nothing: the level stays what it was at the last charge.
    [[nodiscard]] Standing look(const State& state, const Ask& ask) const {
        const State filled = refilled(state, ask.now);
        const std::int64_t wanted = ask.weight() * unit_;
        if (filled.level < wanted) {
            return denied(filled, ask, wanted);
        }
        const std::int64_t left = ask.is_peek() ? filled.level : filled.level - wanted;
        return {true, capacity_, by_unit_.down(left), Wait{0}, moment_full({left, filled.at}) - ask.now};
    }

    void charge(State& state, const Ask& ask) const {
        state = refilled(state, ask.now);
        state.level -= ask.cost * unit_;
    }

    // Gives tokens back; never more than fit.
    void refund(State& state, const Ask& ask) const {
        state = refilled(state, ask.now);
        state.level = std::min(full_, state.level + ask.cost * unit_);
    }

    // From then on the bucket is full, and the state need not be kept.
    [[nodiscard]] Moment idle_at(const State& state) const { return moment_full(clipped(state)); }

    bool operator==(const TokenBucket&) const = default;

private:
    TokenBucket(Tokens capacity, std::int64_t unit, std::int64_t speed)
        : capacity_{capacity},
          unit_{unit},
          speed_{speed},
          by_unit_{unit},
          by_speed_{speed},
          full_{capacity * unit},
          fill_time_{by_speed_.up(full_)} {}

    // What a plan with a larger capacity left behind is cut to what fits now.
    [[nodiscard]] State clipped(const State& state) const {
        return {std::clamp<std::int64_t>(state.level, 0, full_), state.at};
    }

    // The elapsed time is clipped to the fill time, so that the product is below full_ + speed_: it fits.
    [[nodiscard]] State refilled(const State& state, Moment now) const {
        State result = clipped(state);
        const std::int64_t elapsed = microseconds_of(now) - state.at;
        if (elapsed > 0) {
            const std::int64_t added = std::min(elapsed, fill_time_) * speed_;
            result.level += std::min(added, full_ - result.level);
            result.at = microseconds_of(now);
        }
        return result;
    }

    [[nodiscard]] Moment moment_full(const State& state) const {
        return moment_of(state.at + by_speed_.up(full_ - state.level));
    }

    [[nodiscard]] Standing denied(const State& filled, const Ask& ask, std::int64_t wanted) const {
        const Moment enough = moment_of(filled.at + by_speed_.up(wanted - filled.level));
        const Wait to_full = moment_full(filled) - ask.now;
        return {false, capacity_, by_unit_.down(filled.level), enough - ask.now, to_full};
    }

    Tokens capacity_;
    std::int64_t unit_;       // Units in a token.
    std::int64_t speed_;      // Units that a microsecond adds.
    Divisor by_unit_;         // unit_, to divide by.
    Divisor by_speed_;        // Likewise.
    std::int64_t full_;       // Units in a full bucket.
    std::int64_t fill_time_;  // Microseconds from empty to full, rounded up.
};

}  // namespace sluice
