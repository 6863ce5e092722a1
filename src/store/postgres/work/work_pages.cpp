#include "store/postgres/work/work_pages.hpp"

#include <charconv>

#include "app/dispatch/work_tables.hpp"
#include "store/postgres/client/work_rows.hpp"
#include "store/postgres/work/work_writer.hpp"

namespace sluice::postgres {
namespace {

// Of so many rows behind a place, those that fit.
#define SLUICE_FITTING_WORKS(rows, order)                                                                   \
    "select " SLUICE_WORK_COLUMNS " from (select * from sluice.shown_work w where " rows " order by " order \
    " limit $7) w where ($1::smallint is null or w.state_cd = $1)"                                          \
    " and ($2::text is null or w.wndw_config_nm = $2) and ($3::text is null or coalesce(w.host_nm, '') = "  \
    "$3)"                                                                                                   \
    " order by " order " limit $8"
#define SLUICE_LANE_ROWS                                                                 \
    "w.lane_cd = $4 and w.lane_cd <> 0 and w.lane_nm = '' and (w.due_ts, w.event_id) > " \
    "(sluice.from_ms($5), $6)"
#define SLUICE_LANE_ORDER "w.due_ts, w.event_id"
#define SLUICE_ALL_ROWS "w.event_id > $6 and $4::smallint is null and $5::bigint is not null"

constexpr Statement kLaneWorks{"work_list_lane", SLUICE_FITTING_WORKS(SLUICE_LANE_ROWS, SLUICE_LANE_ORDER)};
constexpr Statement kAllWorks{"work_list_all", SLUICE_FITTING_WORKS(SLUICE_ALL_ROWS, "w.event_id")};
// The last of these rows, if there are so many.
constexpr Statement kLaneEnd{
    "work_list_lane_end",
    "select sluice.to_ms(w.due_ts), w.event_id from sluice.work w where w.lane_cd = $1"
    " and w.lane_cd <> 0 and w.lane_nm = ''"
    " and (w.due_ts, w.event_id) > (sluice.from_ms($2), $3)"
    " order by w.due_ts, w.event_id offset $4 limit 1"};
constexpr Statement kAllEnd{"work_list_all_end",
                            "select null, w.event_id from sluice.work w where w.event_id > $1"
                            " order by w.event_id offset $2 limit 1"};

// The lane in which all works of a state stand, where there is one.
std::optional<LaneKind> lane_of(std::optional<WorkState> state) {
    if (state == WorkState::Dead || state == WorkState::Expired) {
        return LaneKind::Dead;
    }
    return state == WorkState::Claimed ? std::optional{LaneKind::Claimed} : std::nullopt;
}

// A page of a lane ends at a point: its time and its event, with a colon between them. One that nobody was
// given is the start.
std::string cursor_of(const LanePoint& point) {
    return std::to_string(point.due.time_since_epoch().count()) + ":" + point.event_id;
}
LanePoint point_at(std::string_view cursor) {
    Duration::rep due = 0;
    const auto [end, failed] = std::from_chars(cursor.data(), cursor.data() + cursor.size(), due);
    const auto read = static_cast<std::size_t>(end - cursor.data());
    if (failed != std::errc{} || read >= cursor.size() || cursor[read] != ':') {
        return {};
    }
    return {Instant{Duration{due}}, std::string{cursor.substr(read + 1)}};
}

Parameters fitting(const WorkFilter& filter, std::optional<LaneKind> lane, const LanePoint& after) {
    Parameters parameters;
    filter.state ? parameters.add(static_cast<std::int64_t>(*filter.state)) : parameters.add_null();
    filter.config ? parameters.add(filter.config->text()) : parameters.add_null();
    filter.host ? parameters.add(*filter.host) : parameters.add_null();
    lane ? parameters.add(static_cast<std::int64_t>(*lane)) : parameters.add_null();
    parameters.add(to_ms(after.due)).add(after.event_id);
    parameters.add(static_cast<std::int64_t>(kRowsReadMax));
    parameters.add(static_cast<std::int64_t>(filter.limit + 1));
    return parameters;
}

}  // namespace

Result<WorkPage, Failure> list_works(Connection& connection, const WorkFilter& filter) {
    const auto lane = lane_of(filter.state);
    const LanePoint after = lane ? point_at(filter.after) : LanePoint{{}, filter.after};
    const auto last_row = static_cast<std::int64_t>(kRowsReadMax) - 1;
    connection.queue(lane ? kLaneWorks : kAllWorks, fitting(filter, lane, after));
    if (lane) {
        connection.queue(kLaneEnd, Parameters{}
                                       .add(static_cast<std::int64_t>(*lane))
                                       .add(to_ms(after.due))
                                       .add(after.event_id)
                                       .add(last_row));
    } else {
        connection.queue(kAllEnd, Parameters{}.add(after.event_id).add(last_row));
    }
    const auto rows = connection.flush();
    if (!rows) {
        return Unexpected{rows.error()};
    }
    const Rows& found = rows->front();
    const Rows& end = rows->back();
    WorkPage page;
    for (std::size_t i = 0; i < std::min(found.size(), filter.limit); ++i) {
        if (auto stored = read_work(found, i)) {  // One that is damaged keeps no other from being shown.
            page.works.push_back(std::move(stored->row.work));
        }
    }
    LanePoint last;
    if (found.size() > filter.limit) {
        constexpr std::size_t kDueColumn = 12;
        const std::size_t row = filter.limit - 1;
        last = {Instant{Duration{found.number(row, kDueColumn).value_or(0)}},
                std::string{found.text(row, 0)}};
    } else if (!end.empty()) {
        last = {Instant{Duration{end.number(0, 0).value_or(0)}}, std::string{end.text(0, 1)}};
    }
    if (!last.event_id.empty()) {
        page.after = lane ? cursor_of(last) : last.event_id;
    }
    return page;
}

}  // namespace sluice::postgres
