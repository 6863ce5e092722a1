#pragma once

#include <chrono>

namespace sluice {

// Every time in Sluice is UTC in whole milliseconds; the type keeps points and lengths apart.
using Duration = std::chrono::milliseconds;
using Instant = std::chrono::sys_time<Duration>;

inline constexpr Instant kEpoch{};
inline constexpr Duration kTenYears = std::chrono::days{3653};

// Where "now" comes from: the wall clock in the daemon, a hand-set one in tests.
// Thread safety: now() may be called from any thread.
class Clock {
public:
    virtual ~Clock() = default;
    [[nodiscard]] virtual Instant now() const = 0;
};

// The wall clock of this machine.
class SystemClock final : public Clock {
public:
    [[nodiscard]] Instant now() const override {
        return std::chrono::floor<Duration>(std::chrono::system_clock::now());
    }
};

}  // namespace sluice
