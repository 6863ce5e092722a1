#include "store/postgres/work/work_writer.hpp"

#include <algorithm>

#include "base/utf8_walk.hpp"

namespace sluice::postgres {
namespace {

constexpr Statement kWorkBegin{"work_begin", "begin isolation level read committed"};
constexpr Statement kSilence{"work_silence",
                             "select set_config('idle_in_transaction_session_timeout', $1, true)"};
// A host that is null here was not found out by this transaction.
constexpr Statement kStoreWorks{
    "work_store",
    "update sluice.work w set host_nm = coalesce(c.host, w.host_nm),"
    " endpoint_nm = coalesce(c.endpoint, w.endpoint_nm), sched_ts = sluice.from_ms(c.scheduled),"
    " expires_ts = sluice.from_ms(c.expires), state_cd = c.state, lane_cd = c.lane_kind, lane_nm = "
    "c.lane_name,"
    " due_ts = sluice.from_ms(c.due), attempt_ct = c.attempts, try_ct = c.tries, line_ct = c.lines"
    " from unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::smallint[], "
    "$7::smallint[],"
    " $8::text[], $9::bigint[], $10::integer[], $11::integer[], $12::integer[])"
    " as c (event_id, host, endpoint, scheduled, expires, state, lane_kind, lane_name, due, attempts, tries, "
    "lines)"
    " where w.event_id = c.event_id"};
constexpr Statement kAddLines{
    "work_add_lines",
    "insert into sluice.dispatch_audit (event_id, line_no, action_cd, at_ts, attempt_no, status_no, "
    "latency_ms,"
    " by_tx, error_tx, excerpt_tx)"
    " select c.event_id, c.line_no, c.action_cd, sluice.from_ms(c.at_ms), c.attempt_no, c.status_no,"
    " c.latency_ms, c.by_tx, c.error_tx, c.excerpt_tx"
    " from unnest($1::text[], $2::integer[], $3::smallint[], $4::bigint[], $5::integer[], $6::integer[],"
    " $7::bigint[], $8::text[], $9::text[], $10::text[]) as c (event_id, line_no, action_cd, at_ms, "
    "attempt_no,"
    " status_no, latency_ms, by_tx, error_tx, excerpt_tx)"};
constexpr Statement kSay{"work_say", "select pg_notify('sluice', said) from unnest($1::text[]) as said"};

void queue_works(Connection& connection, const std::vector<WorkChange>& works, const Events& routed) {
    ArrayText events;
    ArrayText hosts;
    ArrayText endpoints;
    ArrayText scheduled;
    ArrayText expires;
    ArrayText states;
    ArrayText lane_kinds;
    ArrayText lane_names;
    ArrayText due;
    ArrayText attempts;
    ArrayText tries;
    ArrayText lines;
    for (const WorkChange& change : works) {
        const Work& work = change.row.work;
        const bool over = is_final(work.state);
        const bool is_new = routed.contains(work.event_id.text());
        events.add(std::string_view{work.event_id.text()});
        is_new ? hosts.add(std::string_view{work.route.host}) : hosts.add_null();
        is_new ? endpoints.add(std::string_view{work.route.endpoint}) : endpoints.add_null();
        scheduled.add(to_ms(work.scheduled));
        work.expires ? expires.add(to_ms(*work.expires)) : expires.add_null();
        states.add(static_cast<std::int64_t>(work.state));
        lane_kinds.add(over ? std::int64_t{0} : static_cast<std::int64_t>(work.lane.kind));
        lane_names.add(over ? std::string_view{} : std::string_view{work.lane.name});
        due.add(to_ms(work.due));
        attempts.add(std::int64_t{work.attempts});
        tries.add(std::int64_t{work.tries});
        lines.add(std::int64_t{change.row.lines});
    }
    Parameters parameters;
    parameters.add(events).add(hosts).add(endpoints).add(scheduled).add(expires).add(states);
    parameters.add(lane_kinds).add(lane_names).add(due).add(attempts).add(tries).add(lines);
    connection.queue(kStoreWorks, std::move(parameters));
}

void queue_lines(Connection& connection, const std::vector<EventLine>& added) {
    ArrayText events;
    ArrayText numbers;
    ArrayText actions;
    ArrayText times;
    ArrayText attempts;
    ArrayText statuses;
    ArrayText latencies;
    ArrayText by;
    ArrayText errors;
    ArrayText excerpts;
    for (const EventLine& one : added) {
        events.add(std::string_view{one.event_id.text()});
        numbers.add(std::int64_t{one.number});
        actions.add(static_cast<std::int64_t>(one.line.action));
        times.add(to_ms(one.line.at));
        attempts.add(std::int64_t{one.line.attempt});
        statuses.add(std::int64_t{one.line.status});
        latencies.add(one.line.latency.count());
        by.add(std::string_view{storable(one.line.by)});
        errors.add(std::string_view{storable(one.line.error)});
        excerpts.add(std::string_view{storable(one.line.excerpt)});
    }
    Parameters parameters;
    parameters.add(events).add(numbers).add(actions).add(times).add(attempts).add(statuses);
    parameters.add(latencies).add(by).add(errors).add(excerpts);
    connection.queue(kAddLines, std::move(parameters));
}

}  // namespace

void queue_begin(Connection& connection) {
    connection.queue(kWorkBegin);
    connection.queue(kSilence, Parameters{}.add(std::int64_t{kSilenceMax.count()}));
}

void queue_changes(Connection& connection, const WorkChanges& changes, const Events& routed) {
    if (!changes.works.empty()) {
        queue_works(connection, changes.works, routed);
    }
    if (!changes.lines.empty()) {
        queue_lines(connection, changes.lines);
    }
}

std::optional<Instant> first_news(const WorkChanges& changes) {
    std::optional<Instant> first;
    for (const WorkChange& change : changes.works) {
        const Work& work = change.row.work;
        const auto spot = spot_of(work);
        const bool came_in = spot && spot != change.left &&
                             (work.lane.kind == LaneKind::Due || work.lane.kind == LaneKind::Dead);
        if (came_in) {
            first = std::min(first.value_or(work.due), work.due);
        }
    }
    return first;
}

std::string storable(std::string_view text) {
    std::string stored;
    stored.reserve(text.size());
    while (!text.empty()) {
        const Utf8Step step = next_character(text);
        stored += step.valid && step.character != 0 ? step.bytes : std::string_view{"?"};
        text.remove_prefix(step.bytes.size());
    }
    return stored;
}

void queue_words(Connection& connection, const std::vector<std::string>& words) {
    if (words.empty()) {
        return;
    }
    ArrayText said;
    for (const std::string& one : words) {
        said.add(std::string_view{one});
    }
    connection.queue(kSay, Parameters{}.add(said));
}

}  // namespace sluice::postgres
