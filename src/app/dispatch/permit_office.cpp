#include "app/dispatch/permit_office.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "base/hex.hpp"

namespace sluice {
namespace {

// Storing it takes no longer, or it is not given.
constexpr std::chrono::seconds kStoredWithin{3};

// From `not_before` until its place is free again.
Duration held_for(RateHolds holds) {
    const Duration call = holds == RateHolds::Receiver ? Duration{PermitOffice::kCallMax} : Duration{};
    return PermitOffice::kValid + call + Duration{Gate::kSecond};
}

Duration up_to(std::chrono::nanoseconds length) { return std::chrono::ceil<Duration>(length); }

void append_hex_of(std::string& text, std::uint64_t number) {
    append_hex(text, static_cast<unsigned>(number >> 32U), 8);
    append_hex(text, static_cast<unsigned>(number), 8);
}

}  // namespace

PermitOffice::PermitOffice(std::uint64_t seed, const Clock& clock, const Runtime& runtime,
                           std::function<void()> wake)
    : clock_{clock}, runtime_{runtime}, wake_{std::move(wake)}, random_{seed} {}

void PermitOffice::ask(Subject gate, Asked done) {
    Ask ask{std::move(gate), std::move(done), runtime_.now() + kPatience};
    PermitRefusal::Why why = PermitRefusal::Why::Unavailable;
    {
        const std::lock_guard lock{mutex_};
        if (!stopped_ && asks_.size() < kWaitingMax) {
            asks_.push_back(std::move(ask));
            wake_();
            return;
        }
        why = stopped_ ? why : PermitRefusal::Why::Overloaded;
    }
    refuse(ask, {why});
}

void PermitOffice::end(std::string id, Ended done) {
    {
        const std::lock_guard lock{mutex_};
        if (!stopped_ && ends_.size() < kWaitingMax) {
            ends_.push_back({std::move(id), std::move(done)});
            wake_();
            return;
        }
    }
    done(false);
}

void PermitOffice::stop() {
    {
        const std::lock_guard lock{mutex_};
        stopped_ = true;
    }
    refuse_all();
}

void PermitOffice::refuse_all() {
    std::deque<Ask> asks;
    std::vector<End> ends;
    {
        const std::lock_guard lock{mutex_};
        asks.swap(asks_);
        ends.swap(ends_);
    }
    for (Ask& ask : asks) {
        refuse(ask, {PermitRefusal::Why::Unavailable});
    }
    for (End& end : ends) {
        end.done(false);
    }
}

SteadyTime PermitOffice::next_serve() const {
    const std::lock_guard lock{mutex_};
    SteadyTime next = ends_.empty() ? SteadyTime::max() : SteadyTime::min();
    for (const Ask& ask : asks_) {
        next = std::min({next, ask.again, ask.give_up});
    }
    return next;
}

Result<bool, StoreError> PermitOffice::serve(const Counter& counter) {
    if (const auto ended = end_calls(counter); !ended) {
        return Unexpected{ended.error()};
    }
    return give(counter, find_places(counter));
}

Result<void, StoreError> PermitOffice::end_calls(const Counter& counter) {
    std::vector<End> ends;
    {
        const std::lock_guard lock{mutex_};
        ends.swap(ends_);
    }
    if (ends.empty()) {
        return {};
    }
    std::vector<std::string> ids;
    for (const End& end : ends) {
        ids.push_back(end.id);
        counter.desk.end_lent(end.id);
    }
    auto dropped = counter.store.drop_permits(ids);
    for (End& end : ends) {
        end.done(dropped.has_value());
    }
    return dropped;
}

std::vector<PermitOffice::Grant> PermitOffice::find_places(const Counter& counter) {
    std::deque<Ask> asks;
    {
        const std::lock_guard lock{mutex_};
        asks.swap(asks_);
    }
    const SteadyTime now = runtime_.now();
    std::vector<Grant> grants;
    std::deque<Ask> wait;
    std::map<Subject, SteadyTime> full;  // Whoever comes later does not overtake.
    for (Ask& ask : asks) {
        const auto known = full.find(ask.gate);
        GatePlace place{.kind = GatePlace::Kind::Later};
        if (known != full.end()) {
            place.when = known->second;
        } else {
            place = counter.desk.take_place(ask.gate);
        }
        if (place.kind == GatePlace::Kind::Taken) {
            grants.push_back({std::move(ask), std::move(place), new_id()});
        } else if (place.kind == GatePlace::Kind::NoGate) {
            refuse(ask, {PermitRefusal::Why::NoGate});
        } else if (place.kind == GatePlace::Kind::NotKeeper) {
            refuse(ask, {PermitRefusal::Why::NotKeeper});
        } else {
            full.emplace(ask.gate, place.when);
            const bool is_known = place.when != SteadyTime::max();
            if (ask.give_up <= now || (is_known && place.when > ask.give_up)) {
                const Duration left = is_known ? up_to(place.when - now) : Duration{};
                refuse(ask, {PermitRefusal::Why::Busy, std::max<Duration>(left, Gate::kSecond)});
            } else {
                ask.again = place.when;
                wait.push_back(std::move(ask));
            }
        }
    }
    const std::lock_guard lock{mutex_};
    std::ranges::move(asks_, std::back_inserter(wait));
    asks_ = std::move(wait);
    return grants;
}

Result<bool, StoreError> PermitOffice::give(const Counter& counter, std::vector<Grant> grants) {
    if (grants.empty()) {
        return true;
    }
    const SteadyTime asked = runtime_.now();
    std::vector<OutsidePermit> permits;
    permits.reserve(grants.size());
    for (const Grant& grant : grants) {
        permits.push_back({grant.id, grant.ask.gate,
                           up_to(grant.place.when - asked) + kStoredWithin + held_for(grant.place.holds)});
    }
    auto noted =
        counter.fence ? counter.store.note_permits(*counter.fence, permits) : Result<bool, StoreError>{false};
    const bool is_late = runtime_.now() > asked + kStoredWithin;
    for (Grant& grant : grants) {
        if (noted && *noted && !is_late) {
            grant.ask.done(hand_over(counter, grant));
        } else {
            counter.desk.withdraw(grant.place);
            const bool is_others = noted && !*noted;
            refuse(grant.ask, {is_others ? PermitRefusal::Why::NotKeeper : PermitRefusal::Why::Unavailable});
        }
    }
    return noted;
}

// The time of day is looked at first: should the process stand still in between, the permit is over earlier,
// not later.
GivenPermit PermitOffice::hand_over(const Counter& counter, const Grant& grant) {
    const Instant today = clock_.now();
    const SteadyTime now = runtime_.now();
    const SteadyTime begins = std::max(grant.place.when, now);
    counter.desk.lend(grant.place, grant.id, begins + held_for(grant.place.holds));
    return {grant.id, today + up_to(begins - now)};
}

std::string PermitOffice::new_id() {
    std::string id;
    append_hex_of(id, static_cast<std::uint64_t>(clock_.now().time_since_epoch().count()));
    append_hex_of(id, random_.next());
    return id;
}

}  // namespace sluice
