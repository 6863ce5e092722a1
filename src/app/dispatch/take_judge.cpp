#include "app/dispatch/take_judge.hpp"

#include <algorithm>
#include <utility>

namespace sluice {
namespace {

// More than the difference between two looks at the same clock.
constexpr Duration kLateLooksAfter{10};

Subject pool_of(const Work& work) { return {SubjectKind::Pool, work.pool.text()}; }
Subject host_of(const Work& work) { return {SubjectKind::Host, work.route.host}; }

// Windows are aligned to 1970, so that the end of one tells how long all are.
Duration window_size(const DueWork& due) {
    return due.window_end.time_since_epoch() / std::max<WindowIndex>(due.sends.window + 1, 1);
}

// Whether it waits its turn among the fresh. What has only just missed its window does: behind a long backlog
// of late work it would be late by far more than a window. It counts as late in its window all the same.
bool is_among_fresh(const DueWork& due) {
    return due.lateness == Lateness::Fresh ||
           (due.work.attempts == 0 && due.now - due.work.scheduled < 2 * window_size(due));
}

Lane pool_lane(const DueWork& due) {
    return {is_among_fresh(due) ? LaneKind::Pool : LaneKind::Late, due.work.pool.text()};
}

}  // namespace

TakeJudge::TakeJudge(World world, Terms terms)
    : world_{std::move(world)},
      terms_{std::move(terms)},
      began_{world_.clock.now()},
      booted_{world_.clock.boot_now()},
      now_{began_},
      room_{terms_.room} {}

WorkVerdict TakeJudge::judge(const DueWork& due) {
    now_ = world_.clock.now();
    // A store that has to repeat its transaction asks again.
    if (const auto earlier = collect(due.work.event_id)) {
        release(world_.books, *earlier, now_);
        ++room_;
    }
    if (terms_.lane.kind == LaneKind::Claimed) {
        return judge_claimed(due);
    }
    const Carrier* const carrier = world_.carriers.find(due.work.target);
    if (carrier == nullptr) {
        return give_up(due, WorkState::Dead, "This server cannot carry work to a target of this kind.");
    }
    if (due.work.expires && *due.work.expires <= due.now) {
        return give_up(due, WorkState::Expired, "It was not begun before it expired.");
    }
    world_.books.gates.apply(pool_of(due.work), due.terms, now_);
    if (!due.work.route.host.empty()) {
        world_.books.gates.apply(host_of(due.work), due.terms, now_);
    }
    if (const auto obstacle = find_obstacle(due)) {
        return keep(*obstacle);
    }
    return claim(due, *carrier);
}

WorkVerdict TakeJudge::judge_claimed(const DueWork& due) {
    if (world_.is_under_way(due.work.event_id)) {
        // Its call outlived its claim; whoever waits for it here will tell what became of it.
        stopped_ = Note{Awaits::Time, now_ + std::chrono::seconds{1}};
        return LeaveIt{};
    }
    AuditLine line{.action = AuditLine::Action::Lost, .attempt = due.work.attempts, .by = terms_.node};
    line.error = "The outcome is not known: whoever held the claim did not store it before the claim ended.";
    const auto own = due.terms.schedules.find(due.work.config);
    const RetrySchedule& schedule = own == due.terms.schedules.end() ? RetrySchedule{} : own->second;
    const auto pause = schedule.pause_after(due.work.tries, std::nullopt, world_.random);
    losses_.push_back({due.work.target, true, !pause});
    if (!pause) {
        return GiveUp{WorkState::Dead, std::move(line)};
    }
    soonest_ = std::min(soonest_.value_or(*pause), *pause);
    return TryAgain{*pause, std::move(line)};
}

WorkVerdict TakeJudge::give_up(const DueWork& due, WorkState state, std::string error) {
    losses_.push_back({due.work.target, false, true});
    return GiveUp{state, AuditLine{.action = AuditLine::Action::GivenUp,
                                   .attempt = due.work.attempts,
                                   .by = terms_.node,
                                   .error = std::move(error)}};
}

WorkVerdict TakeJudge::keep(const Obstacle& obstacle) {
    if (obstacle.lane == terms_.lane) {
        stopped_ = obstacle.note;
        return LeaveIt{};
    }
    notes_.try_emplace(obstacle.lane, obstacle.note);
    return SetAside{obstacle.lane, obstacle.parked};
}

WorkVerdict TakeJudge::claim(const DueWork& due, const Carrier& carrier) {
    if (room_ == 0) {
        stopped_ = Note{Awaits::Time, now_};
        return LeaveIt{};
    }
    --room_;
    DispatchBooks& books = world_.books;
    const Work& work = due.work;
    const Subject pool = pool_of(work);
    SteadyTime planned = std::max(now_, books.gates.next(pool));
    if (books.gates.next(pool) != SteadyTime::min()) {
        std::uint32_t& fresh = books.fresh_in_a_row[pool.name];
        fresh = is_among_fresh(due) ? std::min(fresh + 1, kFreshInARow) : 0;
    }
    if (!work.route.host.empty()) {
        planned = std::max(planned, books.gates.next(host_of(work)));
    }
    const CallTerms call = carrier.terms({work.target, work.route.endpoint});
    Reservation reservation{.planned = planned,
                            .begin_by = booted_ + kBeginWithin,
                            .fence = std::nullopt,
                            .pool = books.gates.take(pool, planned),
                            .endpoint = work.route.endpoint,
                            .lease = call.timeout + kLeaseBeyondCall};
    if (!work.route.host.empty()) {
        reservation.host = books.gates.take(host_of(work), planned);
    }
    if (reservation.pool.permit != 0 || (reservation.host && reservation.host->permit != 0)) {
        reservation.fence = terms_.fence;
        books.lent_in_a_row.erase(pool);
        books.lent_in_a_row.erase(host_of(work));
    }
    if (work.expires) {
        reservation.begin_by = std::min<BootTime>(reservation.begin_by, booted_ + (*work.expires - due.now));
    }
    books.endpoints.begin(work.route.endpoint, std::max<std::size_t>(call.concurrent_max, 1), now_);
    reservations_.insert_or_assign(work.event_id, reservation);
    return ClaimIt{reservation.lease, reservation.fence};
}

std::optional<TakeJudge::Obstacle> TakeJudge::find_obstacle(const DueWork& due) {
    if (auto hold = find_hold(due)) {
        return hold;
    }
    if (auto keeper = find_keeper(due)) {
        return keeper;
    }
    if (!may_send(due.sends, due.work.weight, due.lateness)) {
        // What counts as late makes way for the fresh work behind it, and looks at a new window after what
        // has only just missed the one before.
        const bool late = due.lateness == Lateness::Late;
        return Obstacle{{late ? LaneKind::Late : LaneKind::Pool, due.work.pool.text()},
                        {Awaits::Time, window_end(due) + (late ? kLateLooksAfter : Duration::zero())}};
    }
    if (auto queue = find_queue(due)) {
        return queue;
    }
    if (auto turn = find_turn(due)) {
        return turn;
    }
    if (auto gate = find_gate(due)) {
        return gate;
    }
    const std::string& endpoint = due.work.route.endpoint;
    if (world_.books.endpoints.next(endpoint) > now_) {
        return Obstacle{{LaneKind::Endpoint, endpoint}, {Awaits::Guard}};
    }
    return std::nullopt;
}

std::optional<TakeJudge::Obstacle> TakeJudge::find_hold(const DueWork& due) {
    const auto& holds = due.terms.holds;
    if (holds.empty()) {
        return std::nullopt;
    }
    const Work& work = due.work;
    const Note note{Awaits::Resume};
    if (holds.contains({SubjectKind::Config, work.config.text()})) {
        return Obstacle{{LaneKind::Config, work.config.text()}, note};
    }
    if (holds.contains(pool_of(work))) {
        return Obstacle{pool_lane(due), note};
    }
    if (holds.contains(host_of(work))) {
        return Obstacle{{LaneKind::Host, work.route.host}, note};
    }
    const auto found = holds.find({SubjectKind::Endpoint, work.route.endpoint});
    if (found != holds.end()) {
        const bool gone = found->second.why == Hold::Why::Gone;
        return Obstacle{{LaneKind::Endpoint, work.route.endpoint}, note, gone};
    }
    return std::nullopt;
}

// Whoever is the keeper finds it in the lane of its gate.
std::optional<TakeJudge::Obstacle> TakeJudge::find_keeper(const DueWork& due) const {
    if (terms_.fence) {
        return std::nullopt;
    }
    if (world_.books.gates.next(pool_of(due.work)) != SteadyTime::min()) {
        return Obstacle{pool_lane(due), {Awaits::Keeper}};
    }
    const std::string& host = due.work.route.host;
    if (!host.empty() && world_.books.gates.next(host_of(due.work)) != SteadyTime::min()) {
        return Obstacle{{LaneKind::Host, host}, {Awaits::Keeper}};
    }
    return std::nullopt;
}

// What has just become due does not overtake what waits already.
std::optional<TakeJudge::Obstacle> TakeJudge::find_queue(const DueWork& due) const {
    if (terms_.lane.kind != LaneKind::Due) {
        return std::nullopt;
    }
    const Route& route = due.work.route;
    for (const Lane& lane :
         {pool_lane(due), Lane{LaneKind::Host, route.host}, Lane{LaneKind::Endpoint, route.endpoint}}) {
        const bool is_somebodys = !lane.name.empty();
        if (is_somebodys && (world_.books.lanes.contains(lane) || notes_.contains(lane))) {
            return Obstacle{lane, {}};
        }
    }
    return std::nullopt;
}

// Late work has its share of a gate while fresh work waits, and the other way round.
std::optional<TakeJudge::Obstacle> TakeJudge::find_turn(const DueWork& due) const {
    const std::string& pool = due.work.pool.text();
    if (world_.books.gates.next(pool_of(due.work)) == SteadyTime::min()) {
        return std::nullopt;
    }
    const auto found = world_.books.fresh_in_a_row.find(pool);
    const bool turn_of_late = found != world_.books.fresh_in_a_row.end() && found->second >= kFreshInARow;
    const bool is_late = !is_among_fresh(due);
    if (is_late == turn_of_late) {
        return std::nullopt;
    }
    const Lane other{is_late ? LaneKind::Pool : LaneKind::Late, pool};
    if (other != terms_.lane && !wants_permit(other)) {
        return std::nullopt;
    }
    return Obstacle{pool_lane(due), {Awaits::Turn}};
}

std::optional<TakeJudge::Obstacle> TakeJudge::find_gate(const DueWork& due) const {
    const SteadyTime pool = world_.books.gates.next(pool_of(due.work));
    const SteadyTime host =
        due.work.route.host.empty() ? SteadyTime::min() : world_.books.gates.next(host_of(due.work));
    const SteadyTime planned = std::max({now_, pool, host});
    if (planned > now_ + terms_.plan_ahead) {
        // The one that takes longer: when it is free, the other one probably is too.
        const Lane lane = host > pool ? Lane{LaneKind::Host, due.work.route.host} : pool_lane(due);
        return Obstacle{lane, {Awaits::Permit}};
    }
    if (planned > now_ && planned >= window_end(due)) {
        // It would count in this window, and go out in the next one.
        return Obstacle{pool_lane(due), {Awaits::Time, planned}};
    }
    return std::nullopt;
}

bool TakeJudge::wants_permit(const Lane& lane) const {
    const auto noted = notes_.find(lane);
    const auto awaits = noted != notes_.end() && !world_.books.lanes.contains(lane)
                            ? std::optional{noted->second.awaits}
                            : world_.books.lanes.awaits(lane);
    return awaits == Awaits::Permit || awaits == Awaits::Turn;
}

// Rather a little late than early: the store told its time before now. A window that is over already is asked
// about again soon, not at once: the clock of the store may have been set back.
SteadyTime TakeJudge::window_end(const DueWork& due) const {
    const Duration left = due.window_end - due.now;
    return now_ + (left > Duration::zero() ? left : Duration{std::chrono::seconds{1}});
}

std::optional<Reservation> TakeJudge::collect(const EventId& event_id) {
    auto found = reservations_.extract(event_id);
    return found ? std::optional{std::move(found.mapped())} : std::nullopt;
}

void TakeJudge::release() {
    for (const auto& [event_id, reservation] : reservations_) {
        release(world_.books, reservation, world_.clock.now());
    }
    reservations_.clear();
}

void TakeJudge::release(DispatchBooks& books, const Reservation& reservation, SteadyTime now) {
    books.gates.withdrawn(reservation.pool, now);
    if (reservation.host) {
        books.gates.withdrawn(*reservation.host, now);
    }
    books.endpoints.withdrawn(reservation.endpoint);
}

}  // namespace sluice
