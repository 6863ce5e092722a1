#pragma once

#include <chrono>

namespace sluice {

// For lengths of time that are measured, not told.
using SteadyTime = std::chrono::steady_clock::time_point;

// The same, but counted on while the machine sleeps: what holds for others too is measured by it. Of another
// kind, so that nobody compares the two.
struct BootClock {
    using duration = SteadyTime::duration;
    using time_point = std::chrono::time_point<BootClock>;
};
using BootTime = BootClock::time_point;

// Where those come from: a clock that never steps back, and need not know the time of day.
// Thread safety: now() may be called from any thread.
class SteadyClock {
public:
    virtual ~SteadyClock() = default;
    [[nodiscard]] virtual SteadyTime now() const = 0;
};

}  // namespace sluice
