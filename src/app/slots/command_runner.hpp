#pragma once

#include "app/slots/command_group.hpp"
#include "app/slots/known_event.hpp"
#include "app/slots/ledger_state.hpp"
#include "app/slots/slot_store.hpp"

namespace sluice {

// What holds for a whole group of commands.
struct GroupTerms {
    Bodies bodies;
    StoreRoom room;
    Instant now;  // All of a group happens at one instant.
};

// Runs the commands of one group, one after the other, on the counts in memory. What they change is noted in
// the group, to be stored at once; when counts could not be read (LedgerState::failure) none of it may be.
class CommandRunner {
public:
    CommandRunner(LedgerState& state, CommandGroup& group, GroupTerms terms)
        : state_{state}, group_{group}, terms_{terms} {}

    SlotReply run(const SlotCommand& command);

private:
    SlotReply run_one(const AssignSlot& command);
    SlotReply run_one(const AssignEach& command);
    SlotReply run_one(const AssignAll& command);
    SlotReply run_one(const CancelSlot& command);
    SlotReply run_one(const MoveSlot& command);

    SlotOutcome assign(const AssignSlot& command);
    SlotOutcome answer_repeat(EventDraft& draft, const AssignSlot& command);
    static std::unique_ptr<WorkDraft> new_work(const Slot& slot, const ConfigVersion& config,
                                               const AssignSlot& command);
    // Null: it cannot be read, and the group must not be stored. REQUIRES: the slot has work.
    WorkDraft* work_of(EventDraft& draft);
    SlotOutcome take_place(const EventId& event_id, const ConfigVersion& config, const SlotAsk& ask);

    // Where a slot is counted. Its pool may be cut otherwise than when the slot was assigned.
    struct CountedAt {
        const Pool& pool;
        WindowIndex window;
    };
    CountedAt counted_at(const Slot& slot) const;
    void give_back(const Slot& slot);
    // For what may have to be undone: notes what the window held before it is first touched.
    void remember(const Pool& pool, WindowIndex window);
    // All windows are as they were when the notes began.
    void put_back_windows();
    void undo(const std::vector<Granted>& granted);
    void replace(EventDraft& draft, Slot next) const;

    LedgerState& state_;
    CommandGroup& group_;
    const GroupTerms terms_;
    // What windows held before the current command, if it may have to be undone.
    using Before = std::map<std::pair<PoolId, WindowIndex>, WindowContent>;
    std::optional<Before> before_;
};

}  // namespace sluice
