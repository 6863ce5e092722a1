#include "app/dispatch/wake_loop.hpp"

#include <utility>

namespace sluice {

WakeLoop::WakeLoop(Runtime& runtime, Job job)
    : job_{std::move(job)}, worker_{runtime.hire(1)}, timer_{runtime.timer([this] { wake(); })} {}

void WakeLoop::wake() {
    const std::lock_guard lock{mutex_};
    if (!posted_ && !stopped_) {
        posted_ = true;
        worker_->post([this] { run(); });
    }
}

void WakeLoop::stop() {
    {
        const std::lock_guard lock{mutex_};
        stopped_ = true;
    }
    timer_->stop();
    worker_->finish();
}

void WakeLoop::run() {
    {
        const std::lock_guard lock{mutex_};
        posted_ = false;
        if (stopped_) {
            return;
        }
    }
    timer_->set(job_());
}

}  // namespace sluice
