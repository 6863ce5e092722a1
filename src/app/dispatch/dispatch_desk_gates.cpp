// What the desk does as the keeper of gates, and for those outside who ask them for places.
#include <algorithm>
#include <set>
#include <utility>

#include "app/dispatch/dispatch_desk.hpp"

namespace sluice {
namespace {

// While works wait for a gate, so many places go to others before the next work.
constexpr std::uint32_t kLentInARow = 4;

std::string key_of(const EventId& event_id, std::uint32_t attempt) {
    return "claim " + std::to_string(attempt) + " " + event_id.text();
}
std::string key_of_permit(const std::string& id) { return "permit " + id; }

std::vector<Subject> subjects_of(const OpenClaim& claim) {
    std::vector<Subject> subjects{{SubjectKind::Pool, claim.pool.text()}};
    if (!claim.route.host.empty()) {
        subjects.push_back({SubjectKind::Host, claim.route.host});
    }
    return subjects;
}

}  // namespace

void DispatchDesk::use(const TermsRef& terms) {
    const std::lock_guard lock{mutex_};
    if (terms == terms_ || *terms == *terms_) {
        return;
    }
    terms_ = terms;
    books_.gates.apply(*terms_, clock_.now());
    books_.lanes.wake_all(clock_.now());
}

bool DispatchDesk::has_gates() const {
    const std::lock_guard lock{mutex_};
    return !terms_->gates.empty();
}

void DispatchDesk::count_outside(const Outside& outside) {
    const std::lock_guard lock{mutex_};
    const SteadyTime now = clock_.now();
    // Its own permits are known, also where only the outcome is not stored yet.
    std::set<std::string> ended;
    for (const Settlement& outcome : outcomes_) {
        ended.insert(key_of(outcome.event_id, outcome.attempt));
    }
    OutsideCalls calls;
    for (const OpenClaim& claim : outside.claims) {
        const std::string key = key_of(claim.event_id, claim.attempt);
        const bool is_own = flights_.has_claim(claim.event_id, claim.attempt) || ended.contains(key);
        if (claim.left > Duration::zero() && !is_own) {
            calls.emplace(key, OutsideCall{subjects_of(claim), now + claim.left});
        }
    }
    for (const OutsidePermit& permit : outside.permits) {
        if (permit.left > Duration::zero()) {
            calls.emplace(key_of_permit(permit.id), OutsideCall{{permit.gate}, now + permit.left});
        }
    }
    books_.gates.count_outside(calls, outside.asked, now);
    for (const Subject& gate : books_.gates.subjects()) {
        replace_all_of(gate);
    }
}

SteadyTime DispatchDesk::next_count() const {
    const std::lock_guard lock{mutex_};
    return books_.gates.next_count();
}

void DispatchDesk::keep(const Keepership::Lease& lease) {
    const std::lock_guard lock{mutex_};
    const bool is_new = !lease_ || lease_->fence != lease.fence;
    lease_ = lease;
    if (is_new) {
        books_.gates.close(clock_.now());
        books_.lanes.wake_all(clock_.now());
    }
}

void DispatchDesk::resign() {
    const std::lock_guard lock{mutex_};
    lease_.reset();
}

GatePlace DispatchDesk::take_place(const Subject& subject) {
    const std::lock_guard lock{mutex_};
    const SteadyTime next = books_.gates.next(subject);
    if (next == SteadyTime::min()) {
        return {.kind = GatePlace::Kind::NoGate};
    }
    if (!is_keeper()) {
        return {.kind = GatePlace::Kind::NotKeeper};
    }
    const SteadyTime now = clock_.now();
    if (next > now + options_.plan_ahead) {
        const bool is_known = next != SteadyTime::max();
        return {.kind = GatePlace::Kind::Later, .when = is_known ? next - options_.plan_ahead / 2 : next};
    }
    std::uint32_t& in_a_row = books_.lent_in_a_row[subject];
    if (in_a_row >= kLentInARow && is_wanted_by_works(subject)) {
        return {.kind = GatePlace::Kind::Later, .when = now + options_.plan_ahead / 4};
    }
    in_a_row = std::min(in_a_row + 1, kLentInARow);
    const SteadyTime when = std::max(now, next);
    return {.kind = GatePlace::Kind::Taken,
            .when = when,
            .holds = books_.gates.holds(subject),
            .pass = books_.gates.take(subject, when)};
}

bool DispatchDesk::is_wanted_by_works(const Subject& gate) const {
    const auto wants = [this, &gate](LaneKind kind) {
        const auto awaits = books_.lanes.awaits({kind, gate.name});
        return awaits == Awaits::Permit || awaits == Awaits::Turn;
    };
    return gate.kind == SubjectKind::Host ? wants(LaneKind::Host)
                                          : wants(LaneKind::Pool) || wants(LaneKind::Late);
}

void DispatchDesk::lend(const GatePlace& place, const std::string& id, SteadyTime until) {
    const std::lock_guard lock{mutex_};
    books_.gates.lend(place.pass, key_of_permit(id), until, clock_.now());
}

void DispatchDesk::withdraw(const GatePlace& place) {
    const std::lock_guard lock{mutex_};
    books_.gates.withdrawn(place.pass, clock_.now());
    replace_all_of(place.pass.subject);
}

void DispatchDesk::end_lent(const std::string& id) {
    const std::lock_guard lock{mutex_};
    books_.gates.end_outside(key_of_permit(id), clock_.now());
    for (const Subject& gate : books_.gates.subjects()) {
        replace_all_of(gate);
    }
}

}  // namespace sluice
