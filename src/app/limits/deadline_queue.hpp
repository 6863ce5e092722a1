#pragma once

#include <deque>
#include <memory>
#include <mutex>

#include "base/runtime.hpp"

namespace sluice {

// Something that must be over by a certain time.
class Expiring {
public:
    virtual ~Expiring() = default;
    // True when it needs no deadline any more. Any thread.
    [[nodiscard]] virtual bool is_over() const = 0;
    // Its time has come. Called once, by a timer; must not block.
    virtual void expire() = 0;
};

// Calls expire() of whatever is not over when its deadline comes. All deadlines are equally far away, so that
// they come in the order in which they were added, and a queue with one timer is enough.
// Thread safety: add() and stop() from any thread; stop() not within expire().
class DeadlineQueue {
public:
    // The runtime outlives the queue.
    DeadlineQueue(Runtime& runtime, std::chrono::milliseconds patience);
    ~DeadlineQueue() { stop(); }
    DeadlineQueue(const DeadlineQueue&) = delete;
    DeadlineQueue& operator=(const DeadlineQueue&) = delete;

    // Watches `item` from now on, and says until when. After stop() it is not watched.
    SteadyTime add(std::shared_ptr<Expiring> item);
    // Watches nothing any more.
    void stop();

private:
    struct Entry {
        SteadyTime due;
        std::shared_ptr<Expiring> item;
    };

    void tell_due();
    // With mutex_ held.
    void drop_what_is_over();

    const SteadyClock& clock_;
    const std::chrono::milliseconds patience_;
    std::mutex mutex_;
    std::deque<Entry> entries_;  // Guarded by mutex_, like the next. Bounded by what is under way.
    bool is_timer_set_ = false;  // For the first entry, or an earlier one that is over.
    bool stopping_ = false;
    const std::unique_ptr<Timer> timer_;  // Last: it uses all the rest.
};

}  // namespace sluice
