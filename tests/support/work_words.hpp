#pragma once

#include <memory>
#include <ostream>
#include <string>
#include <string_view>

#include "support/slot_words.hpp"

namespace sluice {

// What GoogleTest shows of a work.
inline void PrintTo(const Work& work, std::ostream* out) {
    *out << work.event_id.text() << " " << name_of(work.state) << " in lane "
         << static_cast<int>(work.lane.kind) << " '" << work.lane.name << "' due " << format_instant(work.due)
         << ", attempts " << work.attempts << ", tries " << work.tries;
}

}  // namespace sluice

// Short ways to say what tests of work talk about.
namespace sluice::test {

inline const Lane kDue{LaneKind::Due, {}};
inline const Lane kClaimed{LaneKind::Claimed, {}};
inline const Lane kDead{LaneKind::Dead, {}};
inline Lane lane(LaneKind kind, std::string name) { return {kind, std::move(name)}; }

inline WorkOrder order(std::string payload = "{}", const std::string& host = "h1") {
    WorkOrder order;
    order.target = {TargetKind::Webhook, "https://" + host + "/hook"};
    order.route = {host, "https://" + host + ":443/hook"};
    order.payload = std::move(payload);
    return order;
}

inline AssignSlot with_work(AssignSlot command, WorkOrder order = test::order()) {
    command.work = std::make_shared<const WorkOrder>(std::move(order));
    return command;
}

inline AuditLine attempt_line(std::uint32_t attempt, std::uint32_t status = 200, std::string error = {}) {
    AuditLine line;
    line.attempt = attempt;
    line.status = status;
    line.latency = 12ms;
    line.by = "node";
    line.error = std::move(error);
    return line;
}
inline AuditLine line_of(AuditLine::Action action, std::string by = "node") {
    AuditLine line;
    line.action = action;
    line.by = std::move(by);
    return line;
}

// Judges who say the same of everything.
inline WorkStore::Judge claiming(Duration lease = 20s) {
    return [lease](const DueWork&) { return WorkVerdict{ClaimIt{lease}}; };
}
inline WorkStore::Judge putting_aside(const Lane& lane, bool parked = false) {
    return [=](const DueWork&) { return WorkVerdict{SetAside{lane, parked}}; };
}
inline WorkStore::Judge giving_up(WorkState state) {
    return [state](const DueWork&) {
        return WorkVerdict{GiveUp{state, line_of(AuditLine::Action::GivenUp)}};
    };
}
inline WorkStore::Judge trying_again(Duration pause) {
    return [pause](const DueWork&) { return WorkVerdict{TryAgain{pause, line_of(AuditLine::Action::Lost)}}; };
}
inline WorkStore::Judge leaving() {
    return [](const DueWork&) { return WorkVerdict{LeaveIt{}}; };
}

}  // namespace sluice::test
