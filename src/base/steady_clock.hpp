#pragma once

#include <chrono>

namespace sluice {

// For lengths of time that are measured, not told.
using SteadyTime = std::chrono::steady_clock::time_point;

// Where those come from: a clock that never steps back, and need not know the time of day.
// Thread safety: now() may be called from any thread.
class SteadyClock {
public:
    virtual ~SteadyClock() = default;
    [[nodiscard]] virtual SteadyTime now() const = 0;
};

}  // namespace sluice
