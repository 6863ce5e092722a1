#include "app/dispatch/work_drafts.hpp"

#include <algorithm>

namespace sluice {

Result<WorkDrafts, StoreError> WorkDrafts::read(std::vector<std::string_view> event_ids, WorkTables& tables) {
    std::ranges::sort(event_ids);
    event_ids.erase(std::unique(event_ids.begin(), event_ids.end()), event_ids.end());
    auto rows = tables.find(event_ids);
    if (!rows) {
        return Unexpected{std::move(rows).error()};
    }
    WorkDrafts result;
    for (std::optional<WorkRow>& row : *rows) {
        if (row) {
            std::string id = row->work.event_id.text();
            result.drafts_.emplace_hint(result.drafts_.end(), std::move(id), WorkDraft{std::move(*row)});
        }
    }
    return result;
}

Result<void, StoreError> WorkDrafts::move_into(SlotChanges& changes, SlotTables& slots) {
    std::vector<std::string_view> closed;
    for (auto& [id, draft] : drafts_) {
        if (draft.changed() && is_final(draft.work().state)) {
            closed.push_back(id);
        }
    }
    if (!closed.empty()) {
        auto found = slots.find(closed);
        if (!found) {
            return Unexpected{std::move(found).error()};
        }
        for (std::optional<Slot>& slot : *found) {
            if (slot && slot->work == WorkMark::Open) {
                slot->work = WorkMark::Closed;
                changes.slots.push_back(std::move(*slot));
            }
        }
    }
    for (auto& [id, draft] : drafts_) {
        if (draft.changed()) {
            draft.move_into(changes.work);
        }
    }
    return {};
}

}  // namespace sluice
