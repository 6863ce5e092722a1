#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "support/virtual_runtime.hpp"

namespace sluice::test {

// The time and threads of one process among several on one virtual time. The process may stand still, as one
// does that gets no processor, or whose machine sleeps: its steady clock does not run meanwhile then.
// What is due meanwhile happens afterwards.
class StandingRuntime final : public Runtime {
public:
    explicit StandingRuntime(VirtualRuntime& world) : world_{world} {}

    [[nodiscard]] SteadyTime now() const override { return world_.now() - slept_; }
    [[nodiscard]] BootTime boot_now() const override { return world_.boot_now(); }
    std::unique_ptr<Timer> timer(std::function<void()> call) override {
        return std::make_unique<StandingTimer>(*this, std::move(call));
    }
    std::unique_ptr<Workers> hire(std::size_t count) override {
        return std::make_unique<StandingWorkers>(*this, count);
    }

    void stand_still() { stands_ = true; }
    void go_on() { wake_up({}); }
    // Its machine slept for so long, up to now.
    void wake_up(std::chrono::nanoseconds length) {
        stands_ = false;
        slept_ += length;
        for (StandingTimer* timer : timers_) {
            timer->set_again();
        }
    }
    // For whoever runs on it and may wait.
    void wait_while_standing() {
        if (stands_) {
            world_.wait([this] { return !stands_; });
        }
    }

private:
    class StandingTimer final : public Timer {
    public:
        StandingTimer(StandingRuntime& process, std::function<void()> call)
            : process_{process}, call_{std::move(call)}, timer_{process.world_.timer([this] { act(); })} {
            process_.timers_.push_back(this);
        }
        ~StandingTimer() override { std::erase(process_.timers_, this); }

        void set(SteadyTime when) override {
            when_ = when;
            set_again();
        }
        void stop() override {
            when_ = SteadyTime::max();
            timer_->stop();
        }
        void set_again() {
            timer_->set(when_ == SteadyTime::max() || process_.stands_ ? SteadyTime::max()
                        : when_ == SteadyTime::min()                   ? when_
                                                                       : when_ + process_.slept_);
        }

    private:
        void act() {
            if (!process_.stands_) {
                when_ = SteadyTime::max();
                call_();
            }
        }

        StandingRuntime& process_;
        const std::function<void()> call_;
        SteadyTime when_ = SteadyTime::max();
        const std::unique_ptr<Timer> timer_;
    };

    class StandingWorkers final : public Workers {
    public:
        StandingWorkers(StandingRuntime& process, std::size_t count)
            : process_{process}, workers_{process.world_.hire(count)} {}

        void post(std::function<void()> job) override {
            workers_->post([this, job = std::move(job)] {
                process_.wait_while_standing();
                job();
            });
        }
        void finish() override { workers_->finish(); }

    private:
        StandingRuntime& process_;
        const std::unique_ptr<Workers> workers_;
    };

    VirtualRuntime& world_;
    std::chrono::nanoseconds slept_{};
    bool stands_ = false;
    std::vector<StandingTimer*> timers_;
};

}  // namespace sluice::test
