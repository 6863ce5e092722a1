#pragma once

#include <map>
#include <string>
#include <string_view>

#include "app/dispatch/work_book.hpp"
#include "app/dispatch/work_draft.hpp"
#include "app/slots/slot_tables.hpp"

namespace sluice {

// The works that one commit is about, each looked up once.
// Thread safety: none.
class WorkDrafts {
public:
    // Events without work are left out.
    static Result<WorkDrafts, StoreError> read(std::vector<std::string_view> event_ids, WorkTables& tables);
    // The same, without reading what the book knows. REQUIRES: the lock of the book.
    static Result<WorkDrafts, StoreError> read(std::vector<std::string_view> event_ids, WorkTables& tables,
                                               const WorkBook& book);

    // Null: the event has no work.
    WorkDraft* find(std::string_view event_id) {
        const auto found = drafts_.find(event_id);
        return found == drafts_.end() ? nullptr : &found->second;
    }

    // Adds all that changed, and the slots of works that are final now. The drafts are used up.
    Result<void, StoreError> move_into(SlotChanges& changes, SlotTables& slots);

private:
    void add(WorkRow row);
    Result<void, StoreError> add_stored(std::span<const std::string_view> event_ids, WorkTables& tables);

    std::map<std::string, WorkDraft, std::less<>> drafts_;
};

}  // namespace sluice
