#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "base/steady_clock.hpp"

namespace sluice {

// Calls its owner when a time has come. Calls are short and never block, because all timers take turns: what
// takes longer is posted to workers. One call at a time.
// Thread safety: set() from anywhere, also within the call; stop() and the end from anywhere but the call.
class Timer {
public:
    virtual ~Timer() = default;  // As stop().
    Timer() = default;
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;

    // One call at `when` or soon after, never before, in place of one that was set and has not begun.
    // SteadyTime::max(): none. After stop() nothing is set any more.
    virtual void set(SteadyTime when) = 0;
    // No call begins any more, and none is under way when this returns.
    virtual void stop() = 0;
};

// Threads for jobs that may block. Jobs begin in the order in which they were posted.
// Thread safety: post() from any thread, also from a job; finish() and the end from any but a job.
class Workers {
public:
    virtual ~Workers() = default;  // As finish().
    Workers() = default;
    Workers(const Workers&) = delete;
    Workers& operator=(const Workers&) = delete;

    // Who posts bounds what waits. What is posted after finish() is called may be left undone, unless a job
    // posts it.
    virtual void post(std::function<void()> job) = 0;
    // Returns when all that was posted is done. From then on there are no threads.
    virtual void finish() = 0;
};

// Time and threads: whatever waits, times out or repeats does so on what is made here. One implementation has
// the clock and the threads of this machine; another, in tests, runs everything in one thread on a clock that
// jumps to the next time at which something happens.
// Thread safety: all of it. It outlives what it made.
class Runtime : public SteadyClock {
public:
    // By any thread.
    [[nodiscard]] virtual BootTime boot_now() const = 0;
    virtual std::unique_ptr<Timer> timer(std::function<void()> call) = 0;
    // REQUIRES: count >= 1.
    virtual std::unique_ptr<Workers> hire(std::size_t count) = 0;
};

// On this machine. All its timers share one thread, which starts with the first of them: a runtime that
// nobody uses has no threads, and what is due at the same time waits for its turn.
std::unique_ptr<Runtime> make_machine_runtime();

}  // namespace sluice
