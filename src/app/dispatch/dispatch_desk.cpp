#include "app/dispatch/dispatch_desk.hpp"

#include <algorithm>
#include <utility>

#include "app/dispatch/settlement_of.hpp"

namespace sluice {
namespace {

constexpr std::string_view kComponent = "Dispatcher";
// The clock of the store may be set while nothing happens: what is far away is looked for earlier.
constexpr std::chrono::seconds kLookAgain{60};
constexpr std::size_t kSentAtATime = 64;

const Lane kDue{LaneKind::Due, {}};
const Lane kClaimed{LaneKind::Claimed, {}};

Duration since(SteadyTime then, SteadyTime now) {
    return std::chrono::duration_cast<Duration>(std::max(now - then, SteadyTime::duration::zero()));
}

}  // namespace

DispatchDesk::DispatchDesk(const DispatcherOptions& options, const DispatcherWorld& world,
                           std::function<void()> wake)
    : options_{options},
      carriers_{world.carriers},
      metrics_{world.metrics},
      log_{world.log},
      clock_{world.runtime},
      wake_{std::move(wake)},
      terms_{std::make_shared<const DispatchTerms>()},
      random_{options.seed},
      timer_{world.runtime.timer([this] { launch(); })} {
    if (!world.store.is_shared()) {
        books_.gates.be_alone();
    }
    books_.lanes.put(kDue, Awaits::Time, clock_.now());
    books_.lanes.put(kClaimed, Awaits::Time, clock_.now());
}

std::size_t DispatchDesk::room() const {
    const std::size_t held = flights_.size() + outcomes_.size();
    return stopping_ ? 0 : options_.in_flight_max - std::min(held, options_.in_flight_max);
}

std::optional<Lane> DispatchDesk::next_lane() const {
    const std::lock_guard lock{mutex_};
    return room() == 0 ? std::nullopt : books_.lanes.ready(clock_.now());
}

SteadyTime DispatchDesk::next_look() const {
    const std::lock_guard lock{mutex_};
    return room() == 0 ? SteadyTime::max() : books_.lanes.next_wake();
}

TakeJudge DispatchDesk::judge_for(const Lane& lane) {
    const std::lock_guard lock{mutex_};
    const auto is_under_way = [this](const EventId& id) {
        return flights_.has_event(id) ||
               std::any_of(outcomes_.begin(), outcomes_.end(),
                           [&](const Settlement& outcome) { return outcome.event_id == id; });
    };
    return TakeJudge{{books_, carriers_, clock_, random_, is_under_way},
                     {lane, options_.node, options_.plan_ahead, room(),
                      is_keeper() ? std::optional{lease_->fence} : std::nullopt}};
}

WorkVerdict DispatchDesk::judge(TakeJudge& judge, const DueWork& due) {
    const std::lock_guard lock{mutex_};
    return judge.judge(due);
}

void DispatchDesk::accept(TakeJudge& judge, Taken taken) {
    {
        const std::lock_guard lock{mutex_};
        plan(judge, taken);
        judge.release();
        for (const auto& [lane, note] : judge.notes()) {
            if (taken.filled.contains(lane) && !books_.lanes.contains(lane)) {
                place(lane, note);
            }
        }
        for (const TakeJudge::Loss& loss : judge.losses()) {
            if (loss.lost) {
                metrics_.lost(loss.target);
            }
            if (loss.died) {
                metrics_.died(loss.target);
            }
        }
        if (judge.soonest()) {
            books_.lanes.wake_by(kDue, clock_.now() + *judge.soonest());
        }
        look_again(judge, taken);
    }
    launch();
}

// With mutex_ held.
void DispatchDesk::plan(TakeJudge& judge, Taken& taken) {
    for (ClaimedWork& claimed : taken.claimed) {
        auto reserved = judge.collect(claimed.work.event_id);
        if (!reserved) {
            continue;  // Never judged: its claim ends by itself.
        }
        books_.lanes.wake_by(kClaimed, clock_.now() + reserved->lease);
        const SteadyTime scheduled = judge.began() + (claimed.work.scheduled - taken.now);
        Flight flight{std::move(claimed.work), std::move(claimed.order), *std::move(reserved), scheduled};
        if (stopping_) {
            give_back(flight);
        } else {
            flights_.add(std::move(flight));
        }
    }
}

// With mutex_ held. When the lane that was taken from is to be looked at next.
void DispatchDesk::look_again(const TakeJudge& judge, const Taken& taken) {
    const Lane& lane = judge.lane();
    if (taken.next && judge.stopped()) {
        place(lane, *judge.stopped());
    } else if (taken.next) {
        // What it awaited before tells the other lanes of a gate that this one still wants permits, if it
        // does.
        const Duration left = std::clamp<Duration>(*taken.next - taken.now, {}, kLookAgain);
        const Awaits before =
            left > Duration::zero() ? Awaits::Time : books_.lanes.awaits(lane).value_or(Awaits::Time);
        books_.lanes.put(lane, before, judge.began() + left);
    } else if (lane == kDue || lane == kClaimed) {
        books_.lanes.put(lane, Awaits::Time, SteadyTime::max());
    } else {
        books_.lanes.erase(lane);
    }
}

void DispatchDesk::abandon(TakeJudge& judge) {
    const std::lock_guard lock{mutex_};
    judge.release();
    // Whatever it did is seen by looking again.
    for (const auto& [lane, note] : judge.notes()) {
        books_.lanes.wake_by(lane, clock_.now());
    }
    books_.lanes.wake_by(kDue, clock_.now());
    books_.lanes.wake_by(kClaimed, clock_.now());
}

void DispatchDesk::launch() {
    struct Call {
        FlightId id;
        TargetKind target;
        Parcel parcel;
    };
    std::vector<Call> calls;
    {
        const std::lock_guard lock{mutex_};
        if (closed_) {
            return;
        }
        while (calls.size() < kSentAtATime) {
            const auto id = flights_.hand_over(clock_.now());
            if (!id) {
                break;
            }
            Flight& flight = *flights_.find(*id);
            calls.push_back({*id, flight.work.target, Parcel{flight.work.event_id, std::move(flight.order)}});
        }
        timer_->set(flights_.next_planned());
    }
    for (Call& call : calls) {
        Carrier* const carrier = carriers_.find(call.target);
        carrier->send(
            std::move(call.parcel), [desk = shared_from_this(), id = call.id] { return desk->may_write(id); },
            [desk = shared_from_this(), id = call.id](Delivery delivery) {
                desk->done(id, std::move(delivery));
            });
    }
}

bool DispatchDesk::may_write(FlightId id) {
    const std::lock_guard lock{mutex_};
    Flight* const flight = closed_ ? nullptr : flights_.find(id);
    if (flight == nullptr) {
        return false;
    }
    const BootTime booted = clock_.boot_now();
    const std::optional<Fence>& fence = flight->reserved.fence;
    const bool is_fenced = fence && (!is_keeper() || lease_->fence != *fence);
    if (stopping_ || booted >= flight->reserved.begin_by || is_fenced) {
        flight->stage = Flight::Stage::Refused;
        return false;
    }
    const SteadyTime now = clock_.now();
    flight->stage = Flight::Stage::Writing;
    flight->began = now;
    books_.gates.began(flight->reserved.pool, now);
    if (flight->reserved.host) {
        books_.gates.began(*flight->reserved.host, now);
    }
    if (flight->work.attempts <= 1) {
        metrics_.began(flight->work.target, since(flight->scheduled, now));
    }
    return true;
}

void DispatchDesk::done(FlightId id, Delivery delivery) {
    const std::lock_guard lock{mutex_};
    if (closed_ || flights_.find(id) == nullptr) {
        return;
    }
    finish(flights_.remove(id), std::move(delivery));
    if (flights_.empty()) {
        all_ended_.notify_all();
    }
    wake_();
}

// With mutex_ held. Metrics and the log never block, so that they are told here.
void DispatchDesk::finish(Flight flight, Delivery delivery) {
    if (delivery.kind == Delivery::Kind::NotSent && flight.stage != Flight::Stage::Writing) {
        if (flight.stage == Flight::Stage::Handed && !stopping_) {
            // Its carrier did not even ask. Should it go on so, its endpoint is left alone for a while.
            books_.endpoints.begin(flight.reserved.endpoint, 1, clock_.now());
            books_.endpoints.failed(flight.reserved.endpoint, clock_.now());
        }
        give_back(flight);
        return;
    }
    if (delivery.kind == Delivery::Kind::NotSent) {
        delivery.kind = Delivery::Kind::Failed;  // It was allowed to leave, so nobody knows.
    }
    const SteadyTime now = clock_.now();
    books_.gates.ended(flight.reserved.pool, now);
    if (flight.reserved.host) {
        books_.gates.ended(*flight.reserved.host, now);
    }
    learn(flight, delivery, now);
    const auto own = terms_->schedules.find(flight.work.config);
    const bool has_begun = flight.stage == Flight::Stage::Writing;
    const AttemptFacts facts{options_.node, has_begun ? since(flight.began, now) : Duration{},
                             own == terms_->schedules.end() ? usual_ : own->second};
    outcomes_.push_back(settlement_of(flight.work, std::move(delivery), facts, random_));
    count(flight.work.target, outcomes_.back());
    replace_all_of(flight.reserved);
}

void DispatchDesk::give_back(const Flight& flight) {
    TakeJudge::release(books_, flight.reserved, clock_.now());
    outcomes_.push_back({flight.work.event_id, flight.work.attempts, Settlement::NotSent{}});
    replace_all_of(flight.reserved);
}

// An answer that asks for a pause says nothing about the endpoint's health. The pause is the endpoint's, so
// that none of its works undercuts it.
void DispatchDesk::learn(const Flight& flight, const Delivery& delivery, SteadyTime now) {
    const std::string& endpoint = flight.reserved.endpoint;
    if (delivery.kind == Delivery::Kind::Gone && !terms_->holds.contains({SubjectKind::Endpoint, endpoint})) {
        log_.write(LogLevel::Warn, kComponent,
                   "Endpoint " + endpoint + " says that it is gone: it is parked until somebody resumes it.");
    }
    if (delivery.kind != Delivery::Kind::Failed) {
        tell(endpoint, books_.endpoints.succeeded(endpoint), {});
    } else if (delivery.status != 0 && delivery.retry_after) {
        const Duration heeded = std::min(*delivery.retry_after, RetrySchedule::kHeededMax);
        books_.endpoints.asked_to_wait(endpoint, now + heeded);
    } else {
        tell(endpoint, books_.endpoints.failed(endpoint, now), delivery.error);
    }
}

void DispatchDesk::tell(const std::string& endpoint, EndpointBook::Change change, const std::string& error) {
    if (change == EndpointBook::Change::BeganToFail) {
        log_.write(LogLevel::Warn, kComponent, "Endpoint " + endpoint + " fails: " + error);
    } else if (change == EndpointBook::Change::IsBack) {
        log_.write(LogLevel::Info, kComponent, "Endpoint " + endpoint + " is back.");
    }
}

void DispatchDesk::count(TargetKind target, const Settlement& settlement) {
    if (std::holds_alternative<Settlement::Done>(settlement.after)) {
        metrics_.sent(target);
    } else if (std::holds_alternative<Settlement::Again>(settlement.after)) {
        metrics_.retried(target);
    } else if (std::holds_alternative<Settlement::Failed>(settlement.after)) {
        metrics_.died(target);
    }
}

}  // namespace sluice
