#include "store/postgres/slots/slot_finder.hpp"

#include "store/postgres/client/work_story.hpp"
#include "store/postgres/slots/slot_rows.hpp"
#include "store/postgres/slots/store_trouble.hpp"

namespace sluice::postgres {
namespace {

constexpr Statement kFindSlot{"find_slot", "select " SLUICE_SLOT_COLUMNS
                                           " from rl_event_slot_dtl d"
                                           " join rl_event_wndw_config c"
                                           " on c.rl_wndw_config_id = d.rl_wndw_config_id"
                                           " where d.event_id = $1"};
constexpr Statement kFindPast{"find_past", "select " SLUICE_PAST_COLUMNS
                                           " from sluice.slot_past d"
                                           " join rl_event_wndw_config c"
                                           " on c.rl_wndw_config_id = d.rl_wndw_config_id"
                                           " where d.event_id = $1 order by d.revision_no"};

}  // namespace

Result<SlotStory, SlotError> find_slot(PatientCaller& caller, const EventId& event_id) {
    const auto lease = caller.take_connection();
    if (!lease) {
        return Unexpected{store_unavailable()};
    }
    (*lease)->queue(kFindSlot, Parameters{}.add(event_id.text()));
    (*lease)->queue(kFindPast, Parameters{}.add(event_id.text()));
    queue_work_story(**lease, event_id);
    (*lease)->queue(kVouch);
    const auto rows = (*lease)->flush();
    if (!rows) {
        return Unexpected{unavailable(caller, rows.error())};
    }
    if (rows->front().empty()) {
        return Unexpected{unknown_event(event_id)};
    }
    auto stored = read_slot(rows->front(), 0);
    auto work = read_work_story(std::span{*rows}.subspan(2, kWorkStoryStatements));
    if (!stored || !work) {
        return Unexpected{work ? store_unavailable() : unavailable(caller, work.error())};
    }
    SlotStory story{std::move(stored->slot), std::move(stored->config_name), {}, std::move(*work)};
    for (std::size_t i = 0; i < (*rows)[1].size(); ++i) {
        if (auto past = read_past((*rows)[1], i)) {
            story.past.push_back(std::move(*past));
        }
    }
    return story;
}

}  // namespace sluice::postgres
