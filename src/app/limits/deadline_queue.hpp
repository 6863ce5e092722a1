#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

namespace sluice {

// Something that must be over by a certain time.
class Expiring {
public:
    virtual ~Expiring() = default;
    // True when it needs no deadline any more. Any thread.
    [[nodiscard]] virtual bool is_over() const = 0;
    // Its time has come. Called once, by the queue's thread; must not block.
    virtual void expire() = 0;
};

// Tells what is not over in time. All deadlines are equally far away, so that they come in the order in which
// they were added and a queue is enough.
// Thread safety: add() and stop() from any thread.
class DeadlineQueue {
public:
    using SteadyTime = std::chrono::steady_clock::time_point;

    explicit DeadlineQueue(std::chrono::milliseconds patience);
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

    void work();

    const std::chrono::milliseconds patience_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Entry> entries_;  // Guarded by mutex_. Bounded by what the callers have under way.
    bool stopping_ = false;      // Guarded by mutex_.
    std::mutex join_mutex_;
    std::jthread thread_;  // Guarded by join_mutex_ once constructed. Last: it uses all the rest.
};

}  // namespace sluice
