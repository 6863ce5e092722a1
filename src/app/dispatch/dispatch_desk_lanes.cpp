// What the desk does with lanes, outcomes and at the end.
#include <algorithm>
#include <utility>

#include "app/dispatch/dispatch_desk.hpp"

namespace sluice {

SteadyTime DispatchDesk::wake_of(const Lane& lane, const TakeJudge::Note& note) const {
    if (note.awaits == Awaits::Guard) {
        return books_.endpoints.next(lane.name);
    }
    if (note.awaits == Awaits::Permit || note.awaits == Awaits::Turn) {
        const SubjectKind kind = lane.kind == LaneKind::Host ? SubjectKind::Host : SubjectKind::Pool;
        const SteadyTime next = books_.gates.next({kind, lane.name});
        // In the middle of what may be planned, so that several are planned at once.
        const bool is_time = next != SteadyTime::max() && next != SteadyTime::min();
        return is_time ? next - options_.plan_ahead / 2 : next;
    }
    return note.wake;
}

// What happened since the note was made counts: another call may have ended meanwhile. One that could have
// gone earlier goes behind those that can be looked at now, or it would keep them waiting for ever.
void DispatchDesk::place(const Lane& lane, const TakeJudge::Note& note) {
    books_.lanes.put(lane, note.awaits, std::max(wake_of(lane, note), clock_.now()));
}

void DispatchDesk::replace(const Lane& lane) {
    const auto awaits = books_.lanes.awaits(lane);
    if (awaits == Awaits::Permit || awaits == Awaits::Turn || awaits == Awaits::Guard) {
        books_.lanes.wake_by(lane, wake_of(lane, {*awaits}));
    }
}

void DispatchDesk::replace_all_of(const Reservation& reservation) {
    replace_all_of(reservation.pool.subject);
    if (reservation.host) {
        replace_all_of(reservation.host->subject);
    }
    replace({LaneKind::Endpoint, reservation.endpoint});
}

void DispatchDesk::replace_all_of(const Subject& gate) {
    if (gate.kind == SubjectKind::Host) {
        replace({LaneKind::Host, gate.name});
    } else {
        replace({LaneKind::Pool, gate.name});
        replace({LaneKind::Late, gate.name});
    }
}

void DispatchDesk::look_at_due() {
    const std::lock_guard lock{mutex_};
    books_.lanes.wake_by({LaneKind::Due, {}}, clock_.now());
}

void DispatchDesk::add_lanes(const std::vector<Lane>& lanes) {
    const std::lock_guard lock{mutex_};
    books_.lanes.none_missing();
    for (const Lane& lane : lanes) {
        if (!books_.lanes.contains(lane)) {
            put_new(lane);
        }
    }
}

void DispatchDesk::look_at(const std::vector<Lane>& lanes) {
    const std::lock_guard lock{mutex_};
    for (const Lane& lane : lanes) {
        if (!books_.lanes.contains(lane)) {
            put_new(lane);
        } else if (!is_others(lane)) {
            books_.lanes.wake_by(lane, clock_.now());
        }
    }
}

void DispatchDesk::put_new(const Lane& lane) {
    if (is_others(lane)) {
        books_.lanes.put(lane, Awaits::Keeper, SteadyTime::max());
    } else {
        books_.lanes.put(lane, Awaits::Time, clock_.now());
    }
}

bool DispatchDesk::is_others(const Lane& lane) const {
    const bool is_of_host = lane.kind == LaneKind::Host;
    const bool is_of_pool = lane.kind == LaneKind::Pool || lane.kind == LaneKind::Late;
    const Subject subject{is_of_host ? SubjectKind::Host : SubjectKind::Pool, lane.name};
    return (is_of_host || is_of_pool) && !is_keeper() && books_.gates.next(subject) != SteadyTime::min();
}

bool DispatchDesk::is_missing_lanes() const {
    const std::lock_guard lock{mutex_};
    return books_.lanes.is_missing();
}

std::vector<Settlement> DispatchDesk::unsettled(std::size_t most) const {
    const std::lock_guard lock{mutex_};
    const auto count = static_cast<std::ptrdiff_t>(std::min(most, outcomes_.size()));
    return {outcomes_.begin(), outcomes_.begin() + count};
}

void DispatchDesk::settled(std::span<const Settlement> settlements) {
    const std::lock_guard lock{mutex_};
    const SteadyTime now = clock_.now();
    for (const Settlement& settlement : settlements) {
        if (const auto* const again = std::get_if<Settlement::Again>(&settlement.after)) {
            books_.lanes.wake_by({LaneKind::Due, {}}, now + again->pause);
        } else if (std::holds_alternative<Settlement::NotSent>(settlement.after)) {
            books_.lanes.wake_by({LaneKind::Due, {}}, now);
        }
    }
    outcomes_.erase(outcomes_.begin(), outcomes_.begin() + static_cast<std::ptrdiff_t>(settlements.size()));
}

void DispatchDesk::stop_sending() {
    const std::lock_guard lock{mutex_};
    stopping_ = true;
    for (const Flight& flight : flights_.remove_planned()) {
        give_back(flight);
    }
    wake_();
}

void DispatchDesk::wait_for_calls(std::chrono::milliseconds patience) {
    std::unique_lock lock{mutex_};
    if (!flights_.empty() && patience.count() > 0) {
        all_ended_.wait_for(lock, patience, [this] { return flights_.empty(); });
    }
}

void DispatchDesk::close() {
    std::unique_ptr<Timer> timer;
    {
        const std::lock_guard lock{mutex_};
        closed_ = true;
        timer = std::move(timer_);
    }
}

DispatchFigures DispatchDesk::figures() const {
    const std::lock_guard lock{mutex_};
    return {flights_.size(), books_.endpoints.failing(), books_.gates.figures(clock_.now()), is_keeper()};
}

}  // namespace sluice
