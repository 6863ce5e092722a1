#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/random.hpp"
#include "base/runtime.hpp"
#include "support/hand_moment_clock.hpp"

namespace sluice::test {

// Time and threads without either: everything runs in the thread of the test, on a clock that stands still as
// long as anything can run, and then jumps to the next moment at which something happens. Which of several
// that can run is next is drawn from the seed, so that the same seed gives the same history.
//
// Each job has a stack of its own. One that waits, by sleep() or by waiting for workers, leaves the thread to
// the others, as one does that is blocked in a store. It must hold no lock meanwhile that others want, and
// calls of timers must not wait at all.
class VirtualRuntime final : public Runtime {
public:
    // Moves `clock`, which stands for all time and outlives this.
    VirtualRuntime(std::uint64_t seed, HandMomentClock& clock);
    ~VirtualRuntime() override;
    VirtualRuntime(const VirtualRuntime&) = delete;
    VirtualRuntime& operator=(const VirtualRuntime&) = delete;

    [[nodiscard]] SteadyTime now() const override { return SteadyOf{clock_}.now(); }
    [[nodiscard]] BootTime boot_now() const override { return BootTime{now().time_since_epoch()}; }
    std::unique_ptr<Timer> timer(std::function<void()> call) override;
    std::unique_ptr<Workers> hire(std::size_t count) override;

    // Lets the others run until so much time has passed.
    void sleep(std::chrono::nanoseconds length);
    // Lets the others run until it holds. What would be waited for in vain ends the process.
    void wait(const std::function<bool()>& holds);

private:
    class Fiber;
    class VirtualTimer;
    class Crew;
    // Something that can happen now: a timer's call, a job's beginning, or that a fiber goes on.
    struct Step {
        VirtualTimer* timer = nullptr;
        Crew* crew = nullptr;
        Fiber* fiber = nullptr;
    };

    void suspend(SteadyTime wake, const std::function<bool()>& holds);
    // Fills steps_ with all that can happen now.
    void look_around();
    void take(Step step);
    // To the next moment at which something can. REQUIRES: nothing can now.
    void jump();
    void let_others_run();
    void switch_to(Fiber& next);
    void start(Crew& crew);
    void work();

    Random random_;
    HandMomentClock& clock_;
    std::vector<VirtualTimer*> timers_;           // All in the order in which they were made, so that
    std::vector<Crew*> crews_;                    // nothing depends on addresses.
    std::vector<std::unique_ptr<Fiber>> fibers_;  // The first is the test itself.
    Fiber* current_;
    std::vector<Step> steps_;
    bool is_in_timer_ = false;
};

}  // namespace sluice::test
