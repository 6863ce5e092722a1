#include "store/postgres/work/take_attempt.hpp"

#include <algorithm>

#include "app/dispatch/work_outcomes.hpp"
#include "store/postgres/client/row_reader.hpp"

namespace sluice::postgres {
namespace {

constexpr Statement kShareTerms{"work_share_terms", "select sluice.share_terms()"};
constexpr Statement kClock{"work_clock", "select sluice.limit_clock() / 1000"};
constexpr Statement kLockDue{"work_lock_due",
                             "select " SLUICE_WORK_COLUMNS
                             ", d.now_ms, d.size_ms, d.cap, d.planned, d.sent, d.late, d.address"
                             " from sluice.lock_due($1, $2, $3, $4) d, lateral (select (d.work).*) w"};
constexpr std::size_t kAddressColumn = kWorkColumns + 6;
constexpr Statement kOrders{"work_orders", "select o.event_id, " SLUICE_ORDER_COLUMNS
                                           " from sluice.work_order o where o.event_id = any ($1)"};
constexpr Statement kBury{"work_bury", "select sluice.bury_works($1, $2, $3)"};
constexpr Statement kStoreSent{
    "work_store_sent",
    "update sluice.work_sent s set sent_ct = c.sent, late_ct = c.late"
    " from unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[])"
    " as c (pool_nm, window_ms, sent, late)"
    " where s.pool_nm = c.pool_nm and s.wndw_strt_ts = sluice.from_ms(c.window_ms)"};
// Some of what is older than anybody asks for, in case the clock is set back; waits for nobody.
constexpr Statement kDropSent{
    "work_drop_sent",
    "delete from sluice.work_sent s where s.ctid in (select old.ctid"
    " from unnest($1::text[], $2::bigint[]) as c (pool_nm, before_ms),"
    " lateral (select o.ctid from sluice.work_sent o where o.pool_nm = c.pool_nm"
    " and o.wndw_strt_ts < sluice.from_ms(c.before_ms) order by o.wndw_strt_ts limit 16"
    " for update skip locked) as old)"};
constexpr std::int64_t kWindowsKept = 8;
constexpr Statement kNext{"work_next",
                          "select sluice.to_ms(w.due_ts) from sluice.work w where w.lane_cd = $1"
                          " and w.lane_nm = $2 and w.lane_cd <> 0 and w.due_ts >= sluice.from_ms($3)"
                          " order by w.due_ts, w.event_id limit 1"};
constexpr Statement kHoldFence{"work_hold_fence", "select sluice.hold_fence($1)"};

// What is due and was not given to us is held by others, who are about to store it.
constexpr Duration kHeldPause{50};
// A longer name has no place in the index of lanes.
constexpr std::size_t kRouteNameMax = 2048;

Instant instant_in(const Rows& rows, std::size_t row, std::size_t column) {
    return Instant{Duration{rows.number(row, column).value_or(0)}};
}

Parameters lane_parameters(const Lane& lane, Instant from) {
    Parameters parameters;
    parameters.add(static_cast<std::int64_t>(lane.kind)).add(lane.name).add(to_ms(from));
    return parameters;
}

}  // namespace

Result<void, Failure> TakeAttempt::run(Connection& connection, std::size_t most,
                                       const WorkStore::Judge& judge) {
    most_ = most;
    queue_reading(connection, most);
    const auto rows = connection.flush();
    if (!rows) {
        return Unexpected{rows.error()};
    }
    taken_.now = instant_in((*rows)[kBeginStatements + 1], 0, 0);
    const auto terms = setting_.terms.read(connection, (*rows)[kBeginStatements + 2]);
    if (!terms) {
        return Unexpected{terms.error()};
    }
    read(rows->back());
    judge_all(**terms, judge);
    return store(connection);
}

void TakeAttempt::queue_reading(Connection& connection, std::size_t most) const {
    queue_begin(connection);
    connection.queue(kShareTerms);
    connection.queue(kClock);
    TermsReader::queue_version(connection);
    connection.queue(kLockDue, lane_parameters(lane_, setting_.from).add(static_cast<std::int64_t>(most)));
}

void TakeAttempt::read(const Rows& rows) {
    locked_ = rows.size();
    due_.reserve(locked_);
    for (std::size_t i = 0; i < locked_; ++i) {
        taken_.now = instant_in(rows, i, kWorkColumns);
        if (std::string reason = read_row(rows, i); !reason.empty()) {
            hopeless_.push_back({std::string{rows.text(i, 0)}, std::move(reason)});
        }
    }
}

std::string TakeAttempt::read_row(const Rows& rows, std::size_t row) {
    auto stored = read_work(rows, row);
    if (!stored) {
        return "Its row is damaged.";
    }
    RowReader reader{rows, row, kWorkColumns + 1};
    const auto size = reader.number_if_any();
    const auto cap = reader.number_if_any();
    if (!size || !cap) {
        return size ? "Its config does not exist any more." : "Its pool does not exist any more.";
    }
    Due due{WorkDraft{std::move(stored->row)}, static_cast<Places>(*cap)};
    const Duration window_size{*size};
    WindowSends sends{.window = WindowGrid{window_size}.index_of(taken_.now)};
    sends.planned = reader.number_as<Places>();
    sends.sent = reader.number_as<Places>();
    sends.late = reader.number_as<Places>();
    if (!stored->is_routed) {
        if (std::string reason = find_route(due.draft, rows, row); !reason.empty()) {
            return reason;
        }
    }
    counted_.try_emplace(due.draft.work().pool, Counted{sends, window_size, sends.sent});
    due_.push_back(std::move(due));
    if (!stored->is_routed) {
        routed_.insert(due_.back().draft.work().event_id.text());
    }
    return {};
}

std::string TakeAttempt::find_route(WorkDraft& draft, const Rows& rows, std::size_t row) {
    if (rows.is_null(row, kAddressColumn)) {
        return "It has no order.";
    }
    auto route = setting_.router({draft.work().target, std::string{rows.text(row, kAddressColumn)}});
    if (!route) {
        return std::move(route).error();
    }
    if (std::max(route->host.size(), route->endpoint.size()) > kRouteNameMax) {
        return "Its address is too long.";
    }
    draft.change().route = std::move(*route);
    return {};
}

void TakeAttempt::judge_all(const DispatchTerms& terms, const WorkStore::Judge& judge) {
    for (Due& due : due_) {
        const Work& work = due.draft.work();
        Counted& counted = counted_.at(work.pool);
        counted.sends.cap = due.cap;
        const Lateness late = lateness(work, counted);
        const WorkVerdict verdict =
            judge({work, counted.sends, late, terms, taken_.now,
                   WindowGrid{counted.window_size}.start_of(counted.sends.window + 1)});
        apply_verdict(due.draft, verdict, taken_.now);
        note(verdict, work, counted, late);
        is_left_ = is_left_ || work.lane == lane_;
        if (std::holds_alternative<LeaveIt>(verdict)) {
            return;
        }
    }
}

Lateness TakeAttempt::lateness(const Work& work, const Counted& counted) {
    const WindowIndex own = WindowGrid{counted.window_size}.index_of(work.scheduled);
    return work.attempts > 0 || own != counted.sends.window ? Lateness::Late : Lateness::Fresh;
}

void TakeAttempt::note(const WorkVerdict& verdict, const Work& work, Counted& counted, Lateness late) {
    if (const auto* claim_it = std::get_if<ClaimIt>(&verdict)) {
        counted.sends.sent += work.weight;
        counted.sends.late += late == Lateness::Late ? work.weight : 0;
        if (claim_it->fence) {
            fences_.insert(*claim_it->fence);
        }
        taken_.claimed.push_back({work, {}});
    } else if (const auto* aside = std::get_if<SetAside>(&verdict)) {
        taken_.filled.insert(aside->lane);
        Instant& first = filled_.try_emplace(aside->lane, work.due).first->second;
        first = std::min(first, work.due);
    }
}

Result<void, Failure> TakeAttempt::store(Connection& connection) {
    WorkChanges changes;
    for (Due& due : due_) {
        if (due.draft.changed()) {
            due.draft.move_into(changes);
        }
    }
    news_ = first_news(changes);
    if (!hopeless_.empty()) {
        news_ = std::min(news_.value_or(taken_.now), taken_.now);
    }
    const bool changed = !changes.works.empty() || !hopeless_.empty();
    const bool claims = !taken_.claimed.empty();
    if (claims) {
        queue_orders(connection);
    }
    queue_storing(connection, changes);
    connection.queue(kNext, lane_parameters(lane_, setting_.from));
    // Last, so that whoever wants to be the keeper waits for the commit alone.
    for (const Fence fence : fences_) {
        connection.queue(kHoldFence, Parameters{}.add(static_cast<std::int64_t>(fence)));
    }
    connection.queue(changed ? kWorkCommit : kWorkRollback);
    const auto rows = connection.flush();
    if (!rows && rows.error().means(Meaning::Fenced)) {
        news_.reset();
        filled_.clear();
        const Instant now = taken_.now;
        taken_ = {};
        taken_.now = now;
        taken_.fenced = true;
        return {};
    }
    if (!rows) {
        return Unexpected{rows.error()};
    }
    if (claims) {
        read_orders(rows->front());
    }
    look_ahead((*rows)[rows->size() - 2 - fences_.size()]);
    return {};
}

void TakeAttempt::queue_orders(Connection& connection) const {
    ArrayText events;
    for (const ClaimedWork& claimed : taken_.claimed) {
        events.add(std::string_view{claimed.work.event_id.text()});
    }
    connection.queue(kOrders, Parameters{}.add(events));
}

void TakeAttempt::queue_storing(Connection& connection, const WorkChanges& changes) {
    queue_changes(connection, changes, routed_);
    if (!hopeless_.empty()) {
        queue_hopeless(connection);
    }
    if (!taken_.claimed.empty()) {
        queue_sent(connection);
    }
    auto words = say_lanes_filled(taken_.filled, setting_.node);
    if (news_) {
        words.push_back(say_work_waits(*news_, setting_.node));
    }
    queue_words(connection, words);
}

void TakeAttempt::queue_hopeless(Connection& connection) const {
    ArrayText events;
    ArrayText reasons;
    for (const Hopeless& one : hopeless_) {
        events.add(std::string_view{one.event_id});
        reasons.add(std::string_view{storable(one.reason)});
    }
    connection.queue(kBury, Parameters{}.add(events).add(reasons).add(to_ms(taken_.now)));
}

void TakeAttempt::queue_sent(Connection& connection) const {
    ArrayText pools;
    ArrayText windows;
    ArrayText sent;
    ArrayText late;
    ArrayText new_pools;
    ArrayText kept_from;
    bool any_new = false;
    for (const auto& [pool, counted] : counted_) {
        if (counted.sends.sent == counted.sent_before) {
            continue;
        }
        const WindowGrid grid{counted.window_size};
        pools.add(std::string_view{pool.text()});
        windows.add(to_ms(grid.start_of(counted.sends.window)));
        sent.add(std::int64_t{counted.sends.sent});
        late.add(std::int64_t{counted.sends.late});
        if (counted.sent_before == 0) {
            new_pools.add(std::string_view{pool.text()});
            kept_from.add(to_ms(grid.start_of(counted.sends.window - kWindowsKept)));
            any_new = true;
        }
    }
    connection.queue(kStoreSent, Parameters{}.add(pools).add(windows).add(sent).add(late));
    if (any_new) {
        connection.queue(kDropSent, Parameters{}.add(new_pools).add(kept_from));
    }
}

// One whose order is missing or damaged goes out to nobody: its claim ends by itself.
void TakeAttempt::read_orders(const Rows& rows) {
    std::map<std::string_view, std::size_t> found;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        found.emplace(rows.text(i, 0), i);
    }
    std::erase_if(taken_.claimed, [&](ClaimedWork& claimed) {
        const auto row = found.find(claimed.work.event_id.text());
        auto order = row == found.end() ? std::nullopt : read_order(rows, row->second, 1);
        if (order) {
            claimed.order = std::move(*order);
            claimed.order.route = claimed.work.route;
        }
        return !order;
    });
}

void TakeAttempt::look_ahead(const Rows& next) {
    if (next.empty()) {
        return;
    }
    front_ = instant_in(next, 0, 0);
    taken_.next = front_;
    const bool is_held = front_ <= taken_.now && !is_left_ && locked_ < most_;
    if (is_held) {
        taken_.next = taken_.now + kHeldPause;
    }
}

}  // namespace sluice::postgres
