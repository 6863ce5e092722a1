#pragma once

#include "store/postgres/slots/brought_work.hpp"
#include "store/postgres/slots/pool_share.hpp"

namespace sluice::postgres {

// What is to come of a group when not all of it can be placed.
enum class Completeness { AsManyAsFit, AllOrNone };

// One transaction that places a group of events: two round trips, whatever their number. The first locks
// windows that are believed to have room, skipping those that others hold, and reads the events that are
// known already; then the planner decides with the counters under lock; the second stores and commits.
// What could not be placed is left without an outcome. With AllOrNone, outcomes say what would be, and
// nothing is stored unless all of them are slots: what another transaction was faster with is looked at
// before the commit, which takes a third round trip.
class BatchAttempt {
public:
    struct Setting {
        WindowMirror& mirror;
        Random& random;
        Instant now;
        Bodies bodies;
        Completeness completeness;
        const BusyWindows& avoid;              // Not to be tried again.
        std::chrono::milliseconds event_wait;  // For an event that another transaction is at.
    };
    // The group is placed in its order. REQUIRES: distinct events.
    BatchAttempt(Setting setting, std::span<Candidate*> group) : setting_{setting}, group_{group} {}

    // A failure has decided nothing, unless its outcome is unknown.
    Result<AttemptReport, Failure> run(Connection& connection);

private:
    Result<void, Failure> claim_windows();
    void queue_reading(Connection& connection) const;
    [[nodiscard]] bool compares_work() const;
    bool configs_hold(const Rows& active) const;
    Result<void, Failure> answer_known(const Rows& slots, std::span<Candidate* const> asking);
    void place_new();
    // The order that the event of a candidate has, as far as it matters. Null: it has none.
    [[nodiscard]] const WorkOrder* order_of(const Candidate& candidate) const;
    // Grants the slot, unless a repeat asks for something else.
    void grant(Candidate& candidate, const Granted& granted, const ConfigName& config_name) const;
    [[nodiscard]] bool complete() const;
    // False: nothing was stored, because not all of them are slots.
    Result<bool, Failure> store(Connection& connection);
    void queue_storing(Connection& connection);
    Result<void, Failure> read_orders_again(Connection& connection);
    Result<void, Failure> accept(const Rows& stored_before);
    Result<void, Failure> vouch(Connection& connection);

    Setting setting_;
    std::span<Candidate*> group_;
    std::map<PoolName, PoolShare> shares_;
    std::vector<Candidate*> planned_;  // Whom places are planned for.
    std::vector<Candidate*> placed_;
    StoredOrders orders_;  // Of known events, if bodies must agree and some bring work.
};

}  // namespace sluice::postgres
