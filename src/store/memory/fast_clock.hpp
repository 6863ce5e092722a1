#pragma once

#include <memory>

#include "app/limits/moment_clock.hpp"

namespace sluice {

// The wall clock of this machine, read from the system by every call. Before 1970 it stands at 1970, where
// time begins for limits.
std::unique_ptr<MomentClock> make_system_clock();

// The same at a fraction of the cost: between readings of the wall clock, a millisecond apart, time is
// counted by the processor's time-stamp counter. It runs at most a few microseconds beside the wall clock,
// and sees a step of it within that millisecond.
//
// The counter is used only on x86-64, where the processor says that it runs at one speed (invariant TSC), the
// kernel keeps time by it too (it watches the counter, and leaves it when the cores disagree), and its speed
// could be measured twice alike. Otherwise this is make_system_clock().
std::unique_ptr<MomentClock> make_fast_clock();

}  // namespace sluice
