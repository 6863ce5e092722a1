#include "app/limits/deadline_queue.hpp"

#include <algorithm>
#include <vector>

namespace sluice {
namespace {

constexpr std::size_t kAtATime = 256;  // Other timers wait meanwhile.

}  // namespace

DeadlineQueue::DeadlineQueue(Runtime& runtime, std::chrono::milliseconds patience)
    : clock_{runtime}, patience_{patience}, timer_{runtime.timer([this] { tell_due(); })} {}

SteadyTime DeadlineQueue::add(std::shared_ptr<Expiring> item) {
    const std::lock_guard lock{mutex_};
    const SteadyTime due = clock_.now() + patience_;
    if (stopping_) {
        return due;
    }
    drop_what_is_over();
    entries_.push_back({due, std::move(item)});
    // A timer that is set already comes no later, and looks at the rest then.
    if (!is_timer_set_) {
        is_timer_set_ = true;
        timer_->set(due);
    }
    return due;
}

// What is over at the front need not wait for its time: memory is held for what is under way only.
void DeadlineQueue::drop_what_is_over() {
    while (!entries_.empty() && entries_.front().item->is_over()) {
        entries_.pop_front();
    }
}

void DeadlineQueue::stop() {
    {
        const std::lock_guard lock{mutex_};
        stopping_ = true;
        entries_.clear();
    }
    timer_->stop();
}

void DeadlineQueue::tell_due() {
    std::vector<std::shared_ptr<Expiring>> due;
    {
        const std::lock_guard lock{mutex_};
        const SteadyTime now = clock_.now();
        drop_what_is_over();
        while (!entries_.empty() && entries_.front().due <= now && due.size() < kAtATime) {
            due.push_back(std::move(entries_.front().item));
            entries_.pop_front();
        }
        is_timer_set_ = !entries_.empty();
        timer_->set(is_timer_set_ ? std::max(entries_.front().due, now) : SteadyTime::max());
    }
    for (const auto& item : due) {
        item->expire();
    }
}

}  // namespace sluice
