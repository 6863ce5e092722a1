#pragma once

#include <cstdint>
#include <limits>

namespace sluice {

// A point in time or a length of it, in whatever whole unit the caller counts: the governor adds and compares
// only. PostgreSQL's walrus counts seconds, a limit plan microseconds.
using Ticks = std::int64_t;

// Stands for "no such moment": nothing has changed yet, no window is open.
inline constexpr Ticks kNever = std::numeric_limits<Ticks>::min();

// The remaining time of a block that waiting does not end.
inline constexpr Ticks kForever = std::numeric_limits<Ticks>::max();

// How often something may change: a pause after each change, and a cap on the changes of one window. The
// window is no fixed hour: it opens with its first change and closes `window` later.
// REQUIRES: cooldown >= 0, changes_max >= 0, window > 0.
struct GovernorPolicy {
    Ticks cooldown = 0;            // 0: no pause.
    std::int64_t changes_max = 0;  // 0: nothing may change.
    Ticks window = 1;

    friend bool operator==(const GovernorPolicy&, const GovernorPolicy&) = default;
};

// What is remembered of the past: three words.
struct GovernorState {
    Ticks last_change = kNever;
    Ticks window_start = kNever;
    std::int64_t changes = 0;  // Of the window; 0 while none is open.

    friend bool operator==(const GovernorState&, const GovernorState&) = default;
};

enum class GovernorVerdict : std::uint8_t { Allowed, Disabled, Cooldown, WindowFull };

struct GovernorRuling {
    GovernorVerdict verdict = GovernorVerdict::Allowed;
    // The exact wait until this block ends: 0 when allowed, kForever when disabled. Behind a cooldown a full
    // window may wait.
    Ticks remaining = 0;

    friend bool operator==(const GovernorRuling&, const GovernorRuling&) = default;
};

struct GovernorStep {
    GovernorState next;
    GovernorRuling ruling;
};

// All of these are pure, and none allocates. REQUIRES: now >= 0.
//
// A clock that steps back never allows a change early: what lies ahead of `now` is taken to have happened at
// `now`. So it delays by at most one cooldown and one window, however far it stepped.

// The state as it is at `now`: a window that has ended is closed, and nothing lies in the future.
GovernorState settle(const GovernorState& state, const GovernorPolicy& policy, Ticks now);

// Whether a change is allowed at `now`. Asked in this order: a cap of 0 blocks; the cooldown blocks until,
// not at, its end; a window with `changes_max` changes blocks until, not at, its end.
GovernorRuling look(const GovernorState& state, const GovernorPolicy& policy, Ticks now);

// The state after a change at `now`, whether it was allowed or not: the cooldown starts, the change counts,
// and opens a window where none is open.
GovernorState record(const GovernorState& state, const GovernorPolicy& policy, Ticks now);

// look(), and record() when allowed. Blocked: `next` is the settled state.
GovernorStep decide(const GovernorState& state, const GovernorPolicy& policy, Ticks now);

}  // namespace sluice
