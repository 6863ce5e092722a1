#pragma once

#include <functional>
#include <map>
#include <set>
#include <vector>

#include "app/slots/slot_store.hpp"
#include "support/hand_clock.hpp"

namespace sluice::test {

// What is under load, and what the workload may do to it.
struct LoadedWorld {
    SlotStore& store;
    HandClock& clock;
    // Ends a lasting fault; called when a request failed three times.
    std::function<void()> heal = [] {};
    // How many commits have succeeded, where somebody counts them.
    std::function<std::size_t()> committed = [] { return std::size_t{0}; };
};

// A mixed load in groups: assignments one by one and all-or-nothing, cancels, moves, a new config version.
// Keeps what was acknowledged, in order to ask for it again.
class StubbornWorkload {
public:
    // Runs all that is left, each request until it is answered. Checks meanwhile that a store that cannot
    // answer one command of a group answers none, stores nothing, and recovers by itself within a few pauses.
    void run(const LoadedWorld& world);

    // Goes on until the first request that the store cannot answer, which is then the next to be made.
    void run_until_failure(SlotStore& store);

    // Every acknowledged slot is there, byte for byte. An event whose change was never answered may have
    // changed; what was acknowledged is then in its history.
    void check(SlotStore& store) const;

    [[nodiscard]] std::size_t acknowledged() const { return acknowledged_.size(); }

private:
    using Group = std::vector<SlotCommand>;

    static Group commands_of(std::size_t group);
    // One request, once. True when it was answered.
    bool attempt(SlotStore& store);
    bool attempt(SlotStore& store, const Group& commands);
    void insist(const LoadedWorld& world);
    void keep(const std::vector<SlotReply>& replies);

    std::size_t next_ = 0;  // The request that comes next.
    std::map<EventId, Slot> acknowledged_;
    std::set<EventId> unanswered_;
};

}  // namespace sluice::test
