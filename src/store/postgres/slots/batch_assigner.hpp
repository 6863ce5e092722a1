#pragma once

#include <mutex>

#include "app/slots/slot_ledger.hpp"
#include "store/postgres/client/server_clock.hpp"
#include "store/postgres/slots/batch_attempt.hpp"
#include "store/postgres/slots/config_reader.hpp"
#include "store/postgres/slots/held_events.hpp"
#include "store/postgres/slots/provisioner.hpp"
#include "store/postgres/slots/window_counts_reader.hpp"

namespace sluice::postgres {

// Assigns slots in batches: attempts, until every event has its answer or patience is over. Windows that
// others hold are passed over, and waited for only when there is nothing else. Of a batch with events that
// other transactions hold, these are found and set aside, so that nobody waits for another's event for longer
// than it takes to find them. An attempt whose outcome is unknown is made again, which finds what was stored.
// Thread safety: all of it; every call works on a connection of its own.
class BatchAssigner {
public:
    struct Parts {
        ConnectionSource& pool;
        ConfigReader& configs;
        ServerClock& clock;
        WindowMirror& mirror;
        Provisioner& provisioner;
        HeldEvents& held;
        LedgerWorld world;
        WindowMirror::SourceOf source_of;
        CellSourceOf cells_of;
    };
    BatchAssigner(Parts parts, Bodies bodies, std::uint64_t seed)
        : parts_{std::move(parts)}, bodies_{bodies}, seeds_{seed} {}

    // One outcome per event, in order.
    std::vector<SlotOutcome> assign_each(std::span<const AssignSlot* const> events);

    // All of them, or none.
    AllOutcome assign_all(std::span<const AssignSlot> events);

private:
    using Group = std::span<Candidate*>;
    class Patience;

    // Adds the outcomes of one or more events from the front.
    void assign_some(std::span<const AssignSlot* const> events, std::vector<SlotOutcome>& outcomes);
    // Decides all of the group, each event for itself.
    void decide(Group group, Patience& patience);
    // The same in as few attempts as will do, except for events that are found to be held. Why some of the
    // others are left, if they are.
    std::optional<Failure> decide_together(Group group, Patience& patience);
    // The same for those whose events are not held now. Remembers who is at the end of the group then: its
    // event is.
    std::optional<Failure> decide_free(Group group, Patience& patience);
    // As held_search.hpp says.
    Result<std::size_t, Failure> part_held(Group group, const Patience& patience);
    // Decides the group as one.
    void decide_all(Group group, Patience& patience);
    // What a group looks for, and where it need not look again for the moment.
    struct Search {
        Completeness completeness;
        Patience& patience;
        std::chrono::milliseconds event_wait;
        BusyWindows avoid{};
    };
    // How those that are left go on.
    enum class Next {
        TryAgain,
        LookFurtherOn,  // All that was tried is held by others; what lies behind may not be.
        FindHeld,       // One of the events is.
    };
    // One attempt, and what follows from it. A failure has decided nothing of what it left undecided.
    Result<Next, Failure> attempt(Group group, Search& search);
    Result<void, Failure> resolve_configs(Group group);
    // What each of them asks for now. REQUIRES: resolve_configs() was called.
    Result<void, Failure> resolve_asks(Group group);
    Result<void, Failure> follow_up(Group group, AttemptReport& report);

    // Refuses those for whom every window within reach is truly full, and tells the mirror where it erred.
    // With AllOrNone each takes its place from those behind it.
    Result<void, Failure> refuse_exhausted(Group group, Completeness completeness);

    // What is believed of the windows in their pools is read anew when it is next needed.
    void forget_windows_of(std::span<Candidate* const> group);
    // Why patience was over, for the log.
    void report(const std::optional<Failure>& failure) const;

    Random fresh_random();

    const Parts parts_;
    const Bodies bodies_;
    std::mutex mutex_;
    Random seeds_;  // Guarded by mutex_.
};

}  // namespace sluice::postgres
