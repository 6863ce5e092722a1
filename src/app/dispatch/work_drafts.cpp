#include "app/dispatch/work_drafts.hpp"

#include <algorithm>

namespace sluice {

namespace {

void make_distinct(std::vector<std::string_view>& event_ids) {
    std::ranges::sort(event_ids);
    event_ids.erase(std::unique(event_ids.begin(), event_ids.end()), event_ids.end());
}

}  // namespace

Result<WorkDrafts, StoreError> WorkDrafts::read(std::vector<std::string_view> event_ids, WorkTables& tables) {
    make_distinct(event_ids);
    WorkDrafts result;
    const auto added = result.add_stored(event_ids, tables);
    return added ? Result<WorkDrafts, StoreError>{std::move(result)} : Unexpected{added.error()};
}

Result<WorkDrafts, StoreError> WorkDrafts::read(std::vector<std::string_view> event_ids, WorkTables& tables,
                                                const WorkBook& book) {
    make_distinct(event_ids);
    WorkDrafts result;
    std::erase_if(event_ids, [&](std::string_view id) {
        const WorkRow* const known = book.claimed(id);
        if (known != nullptr) {
            result.add(*known);
        }
        return known != nullptr;
    });
    const auto added = result.add_stored(event_ids, tables);
    return added ? Result<WorkDrafts, StoreError>{std::move(result)} : Unexpected{added.error()};
}

void WorkDrafts::add(WorkRow row) {
    std::string id = row.work.event_id.text();
    drafts_.emplace_hint(drafts_.end(), std::move(id), WorkDraft{std::move(row)});
}

Result<void, StoreError> WorkDrafts::add_stored(std::span<const std::string_view> event_ids,
                                                WorkTables& tables) {
    if (event_ids.empty()) {
        return {};
    }
    auto rows = tables.find(event_ids);
    if (!rows) {
        return Unexpected{std::move(rows).error()};
    }
    for (std::optional<WorkRow>& row : *rows) {
        if (row) {
            add(*std::move(row));
        }
    }
    return {};
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
