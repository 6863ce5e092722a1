#pragma once

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>
#include <vector>

#include "app/dispatch/work_draft.hpp"
#include "app/slots/config_book.hpp"
#include "app/slots/slot_store.hpp"
#include "app/slots/slot_tables.hpp"

namespace sluice {

// An event as a group of commands sees it: as stored, then as the commands before have left it.
struct EventDraft {
    std::optional<Slot> slot;           // Empty: the event is unknown.
    std::vector<Slot> past;             // What it was before, in this group.
    bool changed = false;               // Not yet stored as it is.
    std::unique_ptr<WorkDraft> work{};  // Null: it has none, or nobody asked for it yet.
};

// The events that a group of commands names, each looked up once, and what the group changes.
class CommandGroup {
public:
    // Reads the events of all commands. Slots of configs that the book does not know are damaged data.
    static Result<CommandGroup, StoreError> read(std::span<const SlotCommand> commands, SlotTables& tables,
                                                 const ConfigBook& book);

    // REQUIRES: an event that one of the commands names.
    EventDraft& draft(const EventId& event_id) {
        return std::ranges::lower_bound(drafts_, std::string_view{event_id.text()}, {}, &Entry::id)->draft;
    }

    void touch(PoolId pool, WindowIndex window) { touched_.emplace(pool, window); }

    // Everything to store, with the slots in byte order of their events. `content` tells what a touched
    // window holds now. The drafts are used up.
    template <class Content>
    [[nodiscard]] SlotChanges take_changes(Content content) {
        SlotChanges result;
        result.slots.reserve(drafts_.size());
        for (auto& [id, draft] : drafts_) {
            if (draft.changed) {
                result.slots.push_back(std::move(*draft.slot));
                std::ranges::move(draft.past, std::back_inserter(result.past));
                if (draft.work != nullptr && draft.work->changed()) {
                    draft.work->move_into(result.work);
                }
            }
        }
        for (const auto& [pool, window] : touched_) {
            result.counts.push_back({pool, window, content(pool, window)});
        }
        return result;
    }

private:
    struct Entry {
        std::string_view id;  // Belongs to a command.
        EventDraft draft;
    };

    CommandGroup() = default;

    std::vector<Entry> drafts_;  // Ascending by id: tables read and write neighbours faster than strays.
    std::set<std::pair<PoolId, WindowIndex>> touched_;
};

}  // namespace sluice
