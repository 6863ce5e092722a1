#include "app/dispatch/work_lists.hpp"

#include <algorithm>
#include <charconv>

#include "app/dispatch/work_book.hpp"
#include "app/dispatch/work_drafts.hpp"

namespace sluice {
namespace {

constexpr std::size_t kRowsReadMax = 5000;  // For one page.

bool fits(const Work& work, const WorkFilter& filter) {
    return (!filter.state || work.state == *filter.state) &&
           (!filter.config || work.config == *filter.config) &&
           (!filter.host || work.route.host == *filter.host);
}

// The lane in which all works of a state stand, where there is one.
std::optional<Lane> lane_of(std::optional<WorkState> state) {
    if (state == WorkState::Dead || state == WorkState::Expired) {
        return Lane{LaneKind::Dead, {}};
    }
    if (state == WorkState::Claimed) {
        return Lane{LaneKind::Claimed, {}};
    }
    return std::nullopt;
}

// A page of a lane ends at a point: its time and its event, with a colon between them.
std::string cursor_at(const LanePoint& point) {
    return std::to_string(point.due.time_since_epoch().count()) + ":" + point.event_id;
}

// One that nobody was given is the start.
LanePoint point_at(std::string_view cursor) {
    Duration::rep due = 0;
    const auto [end, failed] = std::from_chars(cursor.data(), cursor.data() + cursor.size(), due);
    const auto read = static_cast<std::size_t>(end - cursor.data());
    if (failed != std::errc{} || read >= cursor.size() || cursor[read] != ':') {
        return {};
    }
    return {Instant{Duration{due}}, std::string{cursor.substr(read + 1)}};
}

Result<WorkPage, StoreError> list_lane(WorkTables& tables, const Lane& lane, const WorkFilter& filter) {
    WorkPage page;
    std::vector<LanePoint> points;
    bool more = false;
    const LanePoint after = filter.after.empty() ? LanePoint{} : point_at(filter.after);
    const auto scanned = tables.scan_lane(lane, after, [&](const LanePoint& point) {
        if (!filter.after.empty() && point == after) {
            return true;
        }
        more = points.size() == std::min(kRowsReadMax, std::size_t{4} * filter.limit);
        if (!more) {
            points.push_back(point);
        }
        return !more;
    });
    if (!scanned) {
        return Unexpected{scanned.error()};
    }
    std::vector<std::string_view> ids;
    ids.reserve(points.size());
    for (const LanePoint& point : points) {
        ids.emplace_back(point.event_id);
    }
    auto works = WorkDrafts::read(std::move(ids), tables);
    if (!works) {
        return Unexpected{std::move(works).error()};
    }
    for (const LanePoint& point : points) {
        const WorkDraft* found = works->find(point.event_id);
        // It may have changed since the lane was read.
        if (found != nullptr && fits(found->work(), filter)) {
            if (page.works.size() == filter.limit) {
                more = true;
                break;
            }
            page.works.push_back(found->work());
        }
        page.after = cursor_at(point);
    }
    if (!more) {
        page.after.clear();
    }
    return page;
}

Result<WorkPage, StoreError> list_all(WorkTables& tables, const WorkFilter& filter, const Holds& holds) {
    WorkPage page;
    std::size_t read = 0;
    bool more = false;
    const auto scanned = tables.scan_works(filter.after, [&](const WorkRow& row) {
        Work work = row.work;
        show_truly(work, holds);
        const bool fitting = fits(work, filter);
        more = read == kRowsReadMax || (fitting && page.works.size() == filter.limit);
        if (more) {
            return false;
        }
        ++read;
        if (fitting) {
            page.works.push_back(std::move(work));
        }
        page.after = row.work.event_id.text();
        return true;
    });
    if (!scanned) {
        return Unexpected{scanned.error()};
    }
    if (!more) {
        page.after.clear();
    }
    return page;
}

}  // namespace

Result<std::optional<WorkStory>, StoreError> find_story(const EventId& event_id, WorkTables& tables,
                                                        const Holds& holds) {
    const std::string_view id = event_id.text();
    auto rows = tables.find({&id, 1});
    if (!rows) {
        return Unexpected{std::move(rows).error()};
    }
    std::optional<WorkRow>& row = rows->front();
    if (!row) {
        return std::optional<WorkStory>{};
    }
    auto orders = tables.orders({&id, 1});
    if (!orders) {
        return Unexpected{std::move(orders).error()};
    }
    if (!orders->front()) {
        return Unexpected{StoreError{"a work has no order"}};
    }
    const auto shown = std::min(row->lines, static_cast<std::uint32_t>(kAuditShownMax));
    auto lines = tables.lines(event_id, row->lines - shown);
    if (!lines) {
        return Unexpected{std::move(lines).error()};
    }
    // Others may be left of an event of the same name that was forgotten before its audit was.
    lines->resize(std::min<std::size_t>(lines->size(), shown));
    show_truly(row->work, holds);
    return std::optional{WorkStory{std::move(row->work), std::move(*orders->front()), std::move(*lines)}};
}

Result<WorkPage, StoreError> list_works(WorkTables& tables, const WorkFilter& filter, const Holds& holds) {
    const auto lane = lane_of(filter.state);
    return lane ? list_lane(tables, *lane, filter) : list_all(tables, filter, holds);
}

Result<std::vector<LanePoint>, StoreError> dead_points(WorkTables& tables, const ReplayRequest& request,
                                                       const std::optional<LanePoint>& after,
                                                       std::size_t most) {
    std::vector<LanePoint> points;
    const LanePoint from = after.value_or(LanePoint{request.since.value_or(Instant{}), {}});
    const auto scanned = tables.scan_lane({LaneKind::Dead, {}}, from, [&](const LanePoint& point) {
        if ((request.until && point.due >= *request.until) || points.size() == most) {
            return false;
        }
        if (!after || point != *after) {
            points.push_back(point);
        }
        return true;
    });
    return scanned ? Result<std::vector<LanePoint>, StoreError>{std::move(points)}
                   : Unexpected{scanned.error()};
}

}  // namespace sluice
