#include "store/postgres/work/work_changing.hpp"

#include <algorithm>

#include "app/dispatch/work_outcomes.hpp"
#include "app/dispatch/work_steps.hpp"
#include "store/postgres/client/work_rows.hpp"
#include "store/postgres/work/work_writer.hpp"

namespace sluice::postgres {
namespace {

constexpr Statement kLockWorks{"work_lock", "select " SLUICE_WORK_COLUMNS
                                            " from sluice.work w where w.event_id = any ($1)"
                                            " order by w.event_id for update"};
// Read once the works are locked.
constexpr Statement kLockedClock{"work_locked_clock", "select sluice.limit_clock() / 1000"};
constexpr Statement kPark{"work_park", "select sluice.park_endpoints($1, $2, $3)"};
constexpr Statement kDead{"work_dead",
                          "select sluice.to_ms(w.due_ts), w.event_id,"
                          " $4::text is null or coalesce(w.host_nm, '') = $4"
                          " from sluice.work w where w.lane_cd = 8 and w.lane_nm = ''"
                          " and (w.due_ts, w.event_id) > (sluice.from_ms($1), $2)"
                          " and ($3::bigint is null or w.due_ts < sluice.from_ms($3))"
                          " order by w.due_ts, w.event_id limit $5"};

bool is_dead(const Work& work) { return work.state == WorkState::Dead || work.state == WorkState::Expired; }

bool fits(const Work& work, const ReplayRequest& request) {
    return is_dead(work) && (!request.host || work.route.host == *request.host) &&
           (!request.since || work.due >= *request.since) && (!request.until || work.due < *request.until);
}

// The works of one transaction, under lock.
struct LockedWorks {
    Instant now;
    std::map<std::string, WorkDraft, std::less<>> drafts;
};

Result<LockedWorks, Failure> lock_works(Connection& connection, const ArrayText& events) {
    queue_begin(connection);
    connection.queue(kLockWorks, Parameters{}.add(events));
    connection.queue(kLockedClock);
    const auto rows = connection.flush();
    if (!rows) {
        return Unexpected{rows.error()};
    }
    LockedWorks locked{Instant{Duration{rows->back().number(0, 0).value_or(0)}}, {}};
    const Rows& works = (*rows)[kBeginStatements];
    for (std::size_t i = 0; i < works.size(); ++i) {
        // One that is damaged stays as it is; whoever takes it next gives it up.
        if (auto stored = read_work(works, i)) {
            std::string id = stored->row.work.event_id.text();
            locked.drafts.emplace_hint(locked.drafts.end(), std::move(id), WorkDraft{std::move(stored->row)});
        }
    }
    return locked;
}

using Parked = std::map<std::string, std::string>;  // Endpoints, by whom.

Result<WorksChanged, Failure> store_works(Connection& connection, LockedWorks& locked, const Parked& parked,
                                          NodeNumber node) {
    WorkChanges changes;
    for (auto& [id, draft] : locked.drafts) {
        if (draft.changed()) {
            draft.move_into(changes);
        }
    }
    WorksChanged result{changes.works.size(), first_news(changes), !parked.empty()};
    queue_changes(connection, changes);
    if (!parked.empty()) {
        ArrayText endpoints;
        ArrayText by;
        for (const auto& [endpoint, who] : parked) {
            endpoints.add(std::string_view{endpoint});
            by.add(std::string_view{storable(who)});
        }
        connection.queue(kPark, Parameters{}.add(endpoints).add(by).add(to_ms(locked.now)));
    }
    if (result.news) {
        queue_words(connection, {say_work_waits(*result.news, node)});
    }
    connection.queue(changes.empty() ? kWorkRollback : kWorkCommit);
    const auto stored = connection.flush();
    return stored ? Result<WorksChanged, Failure>{result} : Unexpected{stored.error()};
}

}  // namespace

Result<WorksChanged, Failure> settle_works(Connection& connection, std::span<const Settlement> settlements,
                                           NodeNumber node) {
    ArrayText events;
    for (const Settlement& settlement : settlements) {
        events.add(std::string_view{settlement.event_id.text()});
    }
    auto locked = lock_works(connection, events);
    if (!locked) {
        return Unexpected{std::move(locked).error()};
    }
    Parked parked;
    for (const Settlement& settlement : settlements) {
        const auto found = locked->drafts.find(settlement.event_id.text());
        if (found == locked->drafts.end()) {
            continue;
        }
        if (auto by = apply_settlement(found->second, settlement, locked->now)) {
            parked.emplace(found->second.work().route.endpoint, std::move(*by));
        }
    }
    return store_works(connection, *locked, parked, node);
}

Result<DeadPage, Failure> find_dead(Connection& connection, const ReplayRequest& request,
                                    const LanePoint& after) {
    Parameters parameters;
    parameters.add(to_ms(after.due)).add(after.event_id);
    request.until ? parameters.add(to_ms(*request.until)) : parameters.add_null();
    request.host ? parameters.add(*request.host) : parameters.add_null();
    parameters.add(static_cast<std::int64_t>(kReplayedAtOnce));
    const auto rows = connection.run(kDead, std::move(parameters));
    if (!rows) {
        return Unexpected{rows.error()};
    }
    DeadPage page;
    for (std::size_t i = 0; i < rows->size(); ++i) {
        page.last =
            LanePoint{Instant{Duration{rows->number(i, 0).value_or(0)}}, std::string{rows->text(i, 1)}};
        auto event = EventId::make(page.last->event_id);
        if (event && rows->boolean(i, 2).value_or(false)) {
            page.events.push_back(std::move(*event));
        }
    }
    return page;
}

Result<WorksChanged, Failure> replay_works(Connection& connection, std::span<const EventId> events,
                                           const Replay& replay) {
    ArrayText ids;
    for (const EventId& event : events) {
        ids.add(std::string_view{event.text()});
    }
    auto locked = lock_works(connection, ids);
    if (!locked) {
        return Unexpected{std::move(locked).error()};
    }
    for (auto& [id, draft] : locked->drafts) {
        if (fits(draft.work(), replay.request)) {
            AuditLine line;
            line.action = AuditLine::Action::Replayed;
            line.by = replay.by;
            draft.add_line(std::move(line), locked->now);
            sluice::replay(draft.change(), locked->now);
        }
    }
    return store_works(connection, *locked, {}, replay.node);
}

}  // namespace sluice::postgres
