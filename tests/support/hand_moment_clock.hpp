#pragma once

#include <atomic>

#include "app/limits/moment_clock.hpp"
#include "base/steady_clock.hpp"

namespace sluice::test {

// A clock for limits that stands still until a test moves it.
// Thread safety: all of it.
class HandMomentClock final : public MomentClock {
public:
    explicit HandMomentClock(Moment now) : now_{now} {}

    [[nodiscard]] Moment now() const override { return now_.load(); }
    void set(Moment now) { now_.store(now); }
    void advance(Wait by) { now_.store(now_.load() + by); }

private:
    std::atomic<Moment> now_;
};

// The steady clock that goes with a clock of limits.
class SteadyOf final : public SteadyClock {
public:
    explicit SteadyOf(const MomentClock& clock) : clock_{clock} {}
    [[nodiscard]] SteadyTime now() const override { return SteadyTime{clock_.now().time_since_epoch()}; }

private:
    const MomentClock& clock_;
};

}  // namespace sluice::test
