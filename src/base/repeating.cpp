#include "base/repeating.hpp"

namespace sluice {

Repeating::Repeating(Runtime& runtime, Pause first, Job job)
    : runtime_{runtime}, job_{std::move(job)}, worker_{runtime.hire(1)}, timer_{runtime.timer([this] {
          worker_->post([this] { run(); });
      })} {
    const std::lock_guard lock{mutex_};
    pause(first);
}

void Repeating::nudge() {
    const std::lock_guard lock{mutex_};
    nudged_ = true;
    if (rests_) {
        rests_ = false;
        worker_->post([this] { run(); });
    }
}

void Repeating::stop() {
    stop_.request_stop();
    timer_->stop();
    worker_->finish();
}

void Repeating::run() {
    {
        const std::lock_guard lock{mutex_};
        nudged_ = false;
    }
    const std::stop_token stop = stop_.get_token();
    if (stop.stop_requested()) {
        return;
    }
    const Pause length = job_(stop);
    const std::lock_guard lock{mutex_};
    pause(length);
}

void Repeating::pause(Pause length) {
    rests_ = length == kUntilNudged && !nudged_;
    if (!rests_) {
        timer_->set(runtime_.now() + (length == kUntilNudged ? Pause{0} : length));
    }
}

}  // namespace sluice
