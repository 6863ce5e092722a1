#pragma once

#include <map>
#include <mutex>

#include "base/time.hpp"
#include "core/dispatch/work.hpp"

namespace sluice::postgres {

// Before which time nothing stands in a lane, as far as this node knows. What was claimed leaves entries in
// the index of lanes that nobody can remove while anybody has an old snapshot: without this every take would
// pass over all of them. It is never believed for long: what others put before a start is told of, and found
// all the same if the news is lost.
// Thread safety: all of it.
class LaneStarts {
public:
    using Steady = std::chrono::steady_clock;

    // So often a lane is looked at from its beginning.
    static constexpr std::chrono::seconds kBelieved{10};
    // A start is never later than so long ago: what others have not committed yet is due about now.
    static constexpr Duration kMargin{2000};

    // Where a look at a lane may begin.
    Instant of(const Lane& lane, Steady::time_point now);
    // A look that began then at start_of() has found nothing before `start`.
    void nothing_before(const Lane& lane, Instant start);
    // Something came into the lane.
    void came_in(const Lane& lane, Instant due);
    void forget(const Lane& lane);
    void forget_all();

private:
    struct Known {
        Instant start{};
        Instant came_in = Instant::max();  // The earliest since the last look ended.
        Steady::time_point looked{};       // From the beginning.
    };

    std::mutex mutex_;
    std::map<Lane, Known> known_;  // Guarded by mutex_. Few more than the lanes that somebody takes from.
};

}  // namespace sluice::postgres
