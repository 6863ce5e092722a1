#pragma once

#include <mutex>
#include <stop_token>

#include "base/runtime.hpp"

namespace sluice {

// Runs a job again and again until it is stopped, on a worker of its own: the job may block. Each run says
// how long to pause after it.
// Thread safety: nudge() from any thread, also within the job; stop() and the end from any but the job's.
class Repeating {
public:
    using Pause = std::chrono::nanoseconds;
    static constexpr Pause kUntilNudged = Pause::max();
    // The token tells a long run that it should end.
    using Job = std::function<Pause(const std::stop_token&)>;

    // The first run comes after the pause `first`.
    Repeating(Runtime& runtime, Pause first, Job job);
    ~Repeating() { stop(); }
    Repeating(const Repeating&) = delete;
    Repeating& operator=(const Repeating&) = delete;

    // A run begins after this call: at once if the job pauses until it is nudged, in its time otherwise.
    void nudge();
    // No run begins any more, and none is under way when this returns.
    void stop();

private:
    void run();
    // With mutex_ held.
    void pause(Pause length);

    Runtime& runtime_;
    const Job job_;
    std::stop_source stop_;
    std::mutex mutex_;
    bool rests_ = false;   // Guarded by mutex_. Pauses until it is nudged.
    bool nudged_ = false;  // Guarded by mutex_. Since the last run began.
    const std::unique_ptr<Workers> worker_;
    const std::unique_ptr<Timer> timer_;  // Last: it uses all the rest, like the worker.
};

}  // namespace sluice
