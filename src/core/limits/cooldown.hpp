#pragma once

#include "base/result.hpp"
#include "core/governor/governor.hpp"
#include "core/limits/limit_terms.hpp"

namespace sluice {

// A pause after each event, and at most so many events in an hour that begins with its first event: the
// governor, in microseconds and with a cost.
// Pure: reads no clock, allocates nothing.
// Thread safety: immutable after make().
class Cooldown {
public:
    // A key that is not known has had no event.
    using State = GovernorState;

    // Fails unless 0 <= pause <= kWindowSizeMax and 1 <= max_per_hour < kExactMax.
    static Result<Cooldown, PlanError> make(Wait pause, Tokens max_per_hour);

    [[nodiscard]] Tokens limit() const { return policy_.changes_max; }
    [[nodiscard]] Wait pause() const { return Wait{policy_.cooldown}; }
    // NOLINTNEXTLINE(readability-convert-member-functions-to-static): all rules answer this.
    [[nodiscard]] State fresh() const { return {}; }

    // Exactly at the end of the pause, and of the hour, the next event may pass. A cost of n is n events at
    // once, with one pause behind them. A clock that has stepped back decides as at the last event: it ends
    // neither pause nor hour.
    [[nodiscard]] Standing look(const State& state, const Ask& ask) const;
    void charge(State& state, const Ask& ask) const;
    // Gives events of the hour back; the pause stays.
    void refund(State& state, const Ask& ask) const;
    [[nodiscard]] Moment idle_at(const State& state) const;

    bool operator==(const Cooldown&) const = default;

private:
    explicit Cooldown(GovernorPolicy policy) : policy_{policy} {}

    [[nodiscard]] Ticks passes_at(const State& state, const Ask& ask) const;

    GovernorPolicy policy_;  // In microseconds.
};

}  // namespace sluice
