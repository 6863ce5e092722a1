#pragma once

#include <algorithm>

#include "app/dispatch/work_tables.hpp"

// What becomes of a work, step by step. Pure: nothing is stored here.
namespace sluice {

// What it is while it waits.
constexpr WorkState waiting_state(std::uint32_t attempts) {
    return attempts > 0 ? WorkState::Retrying : WorkState::Pending;
}

inline void wait_in_due(Work& work, Instant due) {
    work.state = waiting_state(work.attempts);
    work.lane = Lane{};
    work.due = due;
}

inline void claim(Work& work, Instant ends) {
    work.state = WorkState::Claimed;
    work.lane = Lane{LaneKind::Claimed, {}};
    work.due = ends;
    ++work.attempts;
    ++work.tries;
}

inline void set_aside(Work& work, const SetAside& verdict) {
    work.state = verdict.parked ? WorkState::Parked : waiting_state(work.attempts);
    work.lane = verdict.lane;
}

// Dead or expired.
inline void give_up(Work& work, WorkState state, Instant now) {
    work.state = state;
    work.lane = Lane{LaneKind::Dead, {}};
    work.due = now;
}

// Sent or withdrawn.
inline void close(Work& work, WorkState state, Instant now) {
    work.state = state;
    work.lane = Lane{};
    work.due = now;
}

inline void park(Work& work, Instant now) {
    work.state = WorkState::Parked;
    work.lane = Lane{LaneKind::Endpoint, work.route.endpoint};
    work.due = now;
}

// The attempt that was claimed never began.
inline void take_back_claim(Work& work, Instant now) {
    work.attempts -= std::min(work.attempts, 1U);
    work.tries -= std::min(work.tries, 1U);
    wait_in_due(work, now);
}

// Whoever replays what has expired wants it sent all the same: it does not expire again.
inline void replay(Work& work, Instant now) {
    if (work.state == WorkState::Expired) {
        work.expires.reset();
    }
    work.tries = 0;
    wait_in_due(work, now);
}

inline void move(Work& work, Instant scheduled) {
    if (work.expires) {
        *work.expires += scheduled - work.scheduled;
    }
    work.scheduled = scheduled;
    wait_in_due(work, scheduled);
}

// Whether its slot may still be moved.
constexpr bool is_untouched(const Work& work) {
    return (work.state == WorkState::Pending || work.state == WorkState::Parked) && work.attempts == 0;
}

}  // namespace sluice
