#include "app/limits/deadline_queue.hpp"

namespace sluice {

DeadlineQueue::DeadlineQueue(std::chrono::milliseconds patience)
    : patience_{patience}, thread_{[this] { work(); }} {}

DeadlineQueue::SteadyTime DeadlineQueue::add(std::shared_ptr<Expiring> item) {
    bool was_empty = false;
    SteadyTime due;
    {
        const std::lock_guard lock{mutex_};
        due = std::chrono::steady_clock::now() + patience_;
        if (stopping_) {
            return due;
        }
        // What is over at the front need not wait for its time: memory is held for what is under way only.
        while (!entries_.empty() && entries_.front().item->is_over()) {
            entries_.pop_front();
        }
        was_empty = entries_.empty();
        entries_.push_back({due, std::move(item)});
    }
    if (was_empty) {
        changed_.notify_one();
    }
    return due;
}

void DeadlineQueue::stop() {
    {
        const std::lock_guard lock{mutex_};
        stopping_ = true;
        entries_.clear();
    }
    changed_.notify_one();
    const std::lock_guard lock{join_mutex_};
    if (thread_.joinable()) {
        thread_.join();
    }
}

void DeadlineQueue::work() {
    std::unique_lock lock{mutex_};
    while (!stopping_) {
        if (entries_.empty()) {
            changed_.wait(lock);
            continue;
        }
        const SteadyTime due = entries_.front().due;
        if (std::chrono::steady_clock::now() < due) {
            changed_.wait_until(lock, due);
            continue;
        }
        const std::shared_ptr<Expiring> item = std::move(entries_.front().item);
        entries_.pop_front();
        lock.unlock();
        item->expire();
        lock.lock();
    }
}

}  // namespace sluice
