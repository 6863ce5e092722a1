#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "app/slots/config_cache.hpp"
#include "app/slots/known_event.hpp"
#include "base/random.hpp"
#include "store/postgres/connection.hpp"
#include "store/postgres/slot_rows.hpp"
#include "store/postgres/window_mirror.hpp"

namespace sluice::postgres {

// An event on its way to a slot.
struct Candidate {
    const AssignSlot* command;
    ConfigRef config;                    // Null: no such config.
    std::optional<SlotOutcome> outcome;  // Empty: not decided yet.
    bool believed_full = false;          // No window within reach is believed to have room.
};

// Windows that others hold, or are provisioning, in transactions that have not ended.
using BusyWindows = std::map<PoolName, std::set<WindowIndex>>;

// What is to come of a group when not all of it can be placed.
enum class Completeness { AsManyAsFit, AllOrNone };

// One transaction that places a group of events: two round trips, whatever their number. The first locks
// windows that are believed to have room, skipping those that others hold, and reads the events that are
// known already; then the planner decides with the counters under lock; the second stores and commits.
// What could not be placed is left without an outcome. With AllOrNone, outcomes say what would be, and
// nothing is stored unless all of them are slots.
class BatchAttempt {
public:
    struct Setting {
        WindowMirror& mirror;
        Random& random;
        Instant now;
        Bodies bodies;
        Completeness completeness;
        const BusyWindows& avoid;  // Not to be tried again.
    };
    // The group is placed in its order. REQUIRES: distinct events.
    BatchAttempt(Setting setting, std::span<Candidate*> group) : setting_{setting}, group_{group} {}

    struct Report {
        bool configs_changed = false;  // Nothing was decided: some config is not what it was taken for.
        // Windows without a counter, and whether they were needed now.
        std::map<PoolName, std::vector<std::int64_t>> missing;
        bool needs_missing = false;
        std::optional<Instant> held_by_others;  // One of the windows that were skipped.
        BusyWindows busy;                       // What was skipped and left the group short of windows.
    };
    // A failure has decided nothing, unless its outcome is unknown.
    Result<Report, Failure> run(Connection& connection);

private:
    // The counters of one pool that this transaction has locked. Every other window counts as full.
    class LockedWindows;
    // What the group wants of one pool.
    struct PoolShare {
        std::vector<Candidate*> candidates;
        std::vector<PlacedAsk> asks;
        std::optional<WindowMirror::Claim> claim;
        Duration window_size{};
        std::map<WindowIndex, Places> locked;
        std::map<WindowIndex, Places> seen;  // Without a lock.
        // Windows that were wanted and neither locked nor found to be held or full: not there yet, or not
        // tried. Nobody may be placed behind one that may have room for him.
        std::map<WindowIndex, Places> open;
        std::size_t next = 0;     // The next of `candidates`.
        bool is_stalled = false;  // Somebody was left for another attempt; those behind him wait, too.
    };

    Result<void, Failure> claim_windows();
    void queue_reading(Connection& connection) const;
    bool configs_hold(const Rows& active) const;
    Result<void, Failure> answer_known(const Rows& slots);
    void read_windows(PoolShare& share, const Rows& seen, const Rows& locked);
    void look_for_missing(const PoolName& pool, const PoolShare& share, Report& report) const;
    static void look_for_held(const PoolName& pool, const PoolShare& share, Report& report);
    static void look_for_open(PoolShare& share);
    void place_new();
    std::optional<Placement> place_one(const Candidate& candidate, PoolShare& share);
    [[nodiscard]] bool complete() const;
    Result<void, Failure> store(Connection& connection);
    Result<void, Failure> accept(const Rows& stored_before);
    void teach_mirror();

    Setting setting_;
    std::span<Candidate*> group_;
    std::map<PoolName, PoolShare> shares_;
    std::vector<Candidate*> placed_;
};

}  // namespace sluice::postgres
