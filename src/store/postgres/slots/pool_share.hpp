#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "app/slots/config_cache.hpp"
#include "base/random.hpp"
#include "store/postgres/client/connection.hpp"
#include "store/postgres/slots/passed_windows.hpp"
#include "store/postgres/slots/slot_rows.hpp"
#include "store/postgres/slots/window_mirror.hpp"

namespace sluice::postgres {

// An event on its way to a slot.
struct Candidate {
    const AssignSlot* command;
    std::vector<const AssignSlot*> repeats{};  // The same event again, further on in the group.
    ConfigRef config{};                        // Null: no such config, or none could be read.
    SlotAsk ask{};                             // What the command comes to, if there is a config.
    std::optional<SlotOutcome> outcome{};      // Empty: not decided yet.
    std::vector<Cell> cells{};            // With a slot of its own: what it takes of a stratified window.
    const AssignSlot* refused = nullptr;  // Whom a refusal is meant for: the command, or a repeat.
    bool known = false;                   // It had a slot when it was last looked for, so it takes no place.
    bool believed_full = false;           // No window within reach is believed to have room.

    void decide(SlotOutcome decided) {
        refused = decided ? nullptr : command;
        outcome = std::move(decided);
    }
};

// Windows that others hold, or are provisioning, in transactions that have not ended.
using BusyWindows = std::map<PoolName, std::set<WindowIndex>>;

// What an attempt to place a group has found out beside its outcomes.
struct AttemptReport {
    bool configs_changed = false;  // Nothing was decided: some config is not what it was taken for.
    bool event_held = false;       // Nothing was stored: another transaction holds one of the events.
    bool knows_more = false;       // Places were planned for events that turned out to have their slots.
    // Windows without a counter, and whether they were needed now.
    std::map<PoolName, std::vector<std::int64_t>> missing;
    bool needs_missing = false;
    std::optional<Instant> held_by_others;  // One of the windows that were skipped.
    BusyWindows busy;                       // What was skipped, where some found no place.
    std::chrono::nanoseconds planning{0};   // How long it took to find windows, reading them included.
};

// What a group wants of one pool, and what one transaction gets of it: windows that are believed to have room
// are claimed, read and locked; then candidates are placed, in their order, by the counters under lock.
class PoolShare {
public:
    // REQUIRES: it has a config of this pool, and fits an empty window.
    void add(Candidate& candidate);
    // Marks the candidates for which no window is believed to have room.
    Result<void, StoreError> claim(WindowMirror& mirror, const PoolName& pool, const BusyWindows& avoided);

    static constexpr std::size_t kStatements = 2;
    void queue_reading(Connection& connection, const PoolName& pool) const;
    void read(const Rows& seen, const Rows& locked);

    // Nothing: it is left for another attempt, and those behind it may have to wait, too.
    // REQUIRES: called in the order of add(), with some left out.
    std::optional<Placement> place(Candidate& candidate, Random& random);
    // REQUIRES: no more calls of place().
    void tell(const PoolName& pool, AttemptReport& report) const;

    // What is in the windows now is not known, or not stored.
    void forget(WindowIndex window) { locked_.erase(window); }
    void forget_all() { locked_.clear(); }
    void teach(WindowMirror& mirror) const;

private:
    // The counters that this transaction has locked. Every other window counts as full.
    class LockedWindows;

    // One more window than is wanted is looked at, behind all of them: counters are provisioned that early.
    // None when no window is wanted.
    [[nodiscard]] std::optional<WindowIndex> beyond() const;
    void tell_missing(const PoolName& pool, AttemptReport& report) const;
    // What the windows are that were wanted and not locked: open, held or full.
    void sort_out_unlocked();
    // All that was believed to have room was seen, and none of it had.
    [[nodiscard]] bool found_all_full() const;

    std::vector<Candidate*> candidates_;
    std::vector<PlacedAsk> asks_;
    std::optional<WindowMirror::Claim> claim_;
    Duration window_size_{};
    std::map<WindowIndex, Places> locked_;
    std::map<WindowIndex, WindowCells> cells_;  // Of locked windows that have them.
    std::map<WindowIndex, Places> seen_;        // Without a lock.
    bool is_beyond_missing_ = false;
    std::vector<WindowIndex> held_;  // By others, though there is room in them.
    // Windows that were wanted and neither locked nor found to be held or full: not there yet, or not tried.
    // Nobody may be placed behind one that may have room.
    std::map<WindowIndex, Places> open_;
    PassedWindows passed_locked_;
    PassedWindows passed_open_;
    std::size_t next_ = 0;  // The next of `candidates_`.
    bool has_placed_ = false;
    bool has_left_ = false;    // Somebody found no place, and is left for another attempt.
    bool is_stalled_ = false;  // Nobody is placed any more: there may be room in front of what was found.
};

}  // namespace sluice::postgres
