#pragma once

#include <map>
#include <span>

#include "app/dispatch/work_draft.hpp"
#include "store/postgres/client/connection.hpp"
#include "store/postgres/work/work_words.hpp"

// Changes of works that are named, not looked for in a lane: transactions of two round trips, the first of
// which locks them in the order of their events.
namespace sluice::postgres {

// What came of it.
struct WorksChanged {
    std::uint64_t works = 0;
    std::optional<Instant> news{};  // When the first is due that came into lane Due or Dead.
    bool parked = false;            // An endpoint was put on hold.
};

Result<WorksChanged, Failure> settle_works(Connection& connection, std::span<const Settlement> settlements,
                                           NodeNumber node);

// A part of the dead, in the order in which they died.
struct DeadPage {
    std::vector<EventId> events;      // Of those of the host that is asked for.
    std::optional<LanePoint> last{};  // Where it ended. Nothing: nobody is left.
};
Result<DeadPage, Failure> find_dead(Connection& connection, const ReplayRequest& request,
                                    const LanePoint& after);

// Those of these events that match the request.
struct Replay {
    const ReplayRequest& request;
    const std::string& by;
    NodeNumber node;
};
Result<WorksChanged, Failure> replay_works(Connection& connection, std::span<const EventId> events,
                                           const Replay& replay);
inline constexpr std::size_t kReplayedAtOnce = 500;

}  // namespace sluice::postgres
