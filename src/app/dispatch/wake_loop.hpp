#pragma once

#include <functional>
#include <memory>
#include <mutex>

#include "base/runtime.hpp"

namespace sluice {

// Runs a job on a worker of its own, which may block: whenever somebody wakes it, and at the time that its
// last run named. In between it costs nothing.
// Thread safety: wake() from any thread, also within the job; stop() and the end from any but the job's.
class WakeLoop {
public:
    // Says when it wants to run again by itself. SteadyTime::max(): only when it is woken.
    using Job = std::function<SteadyTime()>;

    WakeLoop(Runtime& runtime, Job job);
    ~WakeLoop() { stop(); }
    WakeLoop(const WakeLoop&) = delete;
    WakeLoop& operator=(const WakeLoop&) = delete;

    // A run begins after this call, at once. Many calls may lead to one run.
    void wake();
    // No run begins any more, and none is under way when this returns.
    void stop();

private:
    void run();

    const Job job_;
    std::mutex mutex_;
    bool posted_ = false;   // Guarded by mutex_. A run is posted and has not begun.
    bool stopped_ = false;  // Guarded by mutex_.
    const std::unique_ptr<Workers> worker_;
    const std::unique_ptr<Timer> timer_;  // Last: it uses all the rest, like the worker.
};

}  // namespace sluice
