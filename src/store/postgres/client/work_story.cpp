#include "store/postgres/client/work_story.hpp"

#include "app/dispatch/work_steps.hpp"

namespace sluice::postgres {
namespace {

// An endpoint that was let go keeps nothing parked, though the row says so until it is next looked at.
constexpr Statement kFindWork{"find_work",
                              "select " SLUICE_WORK_COLUMNS ", " SLUICE_ORDER_COLUMNS
                              ", exists (select from sluice.dispatch_hold h"
                              " where h.subject_cd = 4 and h.subject_nm = w.endpoint_nm)"
                              " from sluice.work w join sluice.work_order o on o.event_id = w.event_id"
                              " where w.event_id = $1"};
constexpr Statement kFindLines{"find_work_lines",
                               "select " SLUICE_LINE_COLUMNS
                               " from (select * from sluice.dispatch_audit where event_id = $1"
                               " order by line_no desc limit $2) a order by a.line_no"};

Failure damaged(const char* what) { return {kDamagedRow, std::string{what} + " is damaged"}; }

}  // namespace

void queue_work_story(Connection& connection, const EventId& event_id) {
    connection.queue(kFindWork, Parameters{}.add(event_id.text()));
    connection.queue(kFindLines,
                     Parameters{}.add(event_id.text()).add(static_cast<std::int64_t>(kAuditShownMax)));
}

Result<std::optional<WorkStory>, Failure> read_work_story(std::span<const Rows> rows) {
    const Rows& found = rows[0];
    if (found.empty()) {
        return std::optional<WorkStory>{};
    }
    auto stored = read_work(found, 0);
    auto order = read_order(found, 0, kWorkColumns);
    if (!stored || !order) {
        return Unexpected{damaged("the row of a work")};
    }
    Work& work = stored->row.work;
    const bool is_held = found.boolean(0, kWorkColumns + kOrderColumns).value_or(true);
    if (work.state == WorkState::Parked && !is_held) {
        work.state = waiting_state(work.attempts);
    }
    WorkStory story{std::move(work), std::move(*order), {}};
    for (std::size_t i = 0; i < rows[1].size(); ++i) {
        auto line = read_line(rows[1], i);
        if (!line) {
            return Unexpected{damaged("a line of the audit")};
        }
        story.audit.push_back(std::move(*line));
    }
    return std::optional{std::move(story)};
}

}  // namespace sluice::postgres
