#pragma once

#include <set>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "app/slots/config_book.hpp"
#include "app/slots/slot_store.hpp"
#include "app/slots/slot_tables.hpp"

namespace sluice {

// An event as a group of commands sees it: as stored, then as the commands before have left it.
struct EventDraft {
    std::optional<Slot> slot;  // Empty: the event is unknown.
    std::vector<Slot> past;    // What it was before, in this group.
    bool changed = false;      // Not yet stored as it is.
};

// The events that a group of commands names, each looked up once, and what the group changes.
class CommandGroup {
public:
    // Reads the events of all commands. Slots of configs that the book does not know are damaged data.
    static Result<CommandGroup, StoreError> read(std::span<const SlotCommand> commands, SlotTables& tables,
                                                 const ConfigBook& book);

    // REQUIRES: an event that one of the commands names.
    EventDraft& draft(const EventId& event_id) { return drafts_.find(event_id.text())->second; }

    void touch(PoolId pool, WindowIndex window) { touched_.emplace(pool, window); }

    // Everything to store. `held` tells what a touched window holds now.
    template <class Held>
    [[nodiscard]] SlotChanges changes(Held held) const {
        SlotChanges result;
        for (const auto& [id, draft] : drafts_) {
            if (draft.changed) {
                result.slots.push_back(*draft.slot);
                result.past.insert(result.past.end(), draft.past.begin(), draft.past.end());
            }
        }
        for (const auto& [pool, window] : touched_) {
            result.counts.push_back({pool, window, held(pool, window)});
        }
        return result;
    }

private:
    CommandGroup() = default;

    std::unordered_map<std::string_view, EventDraft> drafts_;  // Keys belong to the commands.
    std::set<std::pair<PoolId, WindowIndex>> touched_;
};

}  // namespace sluice
