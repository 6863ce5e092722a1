#include "support/virtual_runtime.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <utility>

#include <ucontext.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace sluice::test {
namespace {

constexpr std::size_t kStackBytes = std::size_t{256} * 1024;

[[noreturn]] void give_up(const char* why) {
    std::fprintf(stderr, "VirtualRuntime: %s\n", why);
    std::abort();
}

// A clock that counts microseconds reaches a time when it has passed it.
Moment reached(SteadyTime time) {
    return Moment{std::chrono::ceil<Moment::duration>(time.time_since_epoch())};
}

}  // namespace

// A stack, and where its work stands. The sanitizer has to be told which stack is in use.
class VirtualRuntime::Fiber {
public:
    Fiber() = default;  // That of the test itself.
    explicit Fiber(std::function<void()> work)
        : work_{std::move(work)}, stack_(kStackBytes), bottom_{stack_.data()}, size_{kStackBytes} {
        ::getcontext(&context_);
        context_.uc_stack.ss_sp = stack_.data();
        context_.uc_stack.ss_size = size_;
        const auto self = reinterpret_cast<std::uintptr_t>(this);  // NOLINT: makecontext passes numbers.
        ::makecontext(&context_, reinterpret_cast<void (*)()>(&Fiber::begin), 2,  // NOLINT: its interface.
                      static_cast<unsigned>(self >> 32U), static_cast<unsigned>(self));
    }

    // Returns when somebody leaves for this one.
    void leave_for(Fiber& next) {
        next.came_from_ = this;
#if defined(__SANITIZE_ADDRESS__)
        __sanitizer_start_switch_fiber(&fake_, next.bottom_, next.size_);
#endif
        ::swapcontext(&context_, &next.context_);
        arrived();
    }

    [[nodiscard]] bool waits() const { return wake != SteadyTime::max() || holds != nullptr || idle; }
    void go_on() {
        wake = SteadyTime::max();
        holds = nullptr;
        idle = false;
    }

    SteadyTime wake = SteadyTime::max();           // While it waits: until then,
    const std::function<bool()>* holds = nullptr;  // until this holds,
    bool idle = false;                             // or for a job.
    std::function<void()> job;                     // The one to be run next.

private:
    static void begin(unsigned high, unsigned low) {
        const auto self = (std::uintptr_t{high} << 32U) | low;
        auto* const fiber = reinterpret_cast<Fiber*>(self);  // NOLINT: as it was given.
        fiber->arrived();
        fiber->work_();
    }

    void arrived() {
#if defined(__SANITIZE_ADDRESS__)
        __sanitizer_finish_switch_fiber(fake_, &came_from_->bottom_, &came_from_->size_);
#endif
    }

    std::function<void()> work_;
    std::vector<std::byte> stack_;
    ucontext_t context_{};
    Fiber* came_from_ = nullptr;
    [[maybe_unused]] const void* bottom_ = nullptr;
    std::size_t size_ = 0;
    [[maybe_unused]] void* fake_ = nullptr;  // The sanitizer's.
};

class VirtualRuntime::VirtualTimer final : public Timer {
public:
    VirtualTimer(VirtualRuntime& runtime, std::function<void()> then)
        : call{std::move(then)}, runtime_{runtime} {
        runtime_.timers_.push_back(this);
    }
    ~VirtualTimer() override { std::erase(runtime_.timers_, this); }

    void set(SteadyTime time) override {
        if (!stopped_) {
            when = time;
        }
    }
    void stop() override {
        when = SteadyTime::max();
        stopped_ = true;
    }

    const std::function<void()> call;
    SteadyTime when = SteadyTime::max();

private:
    VirtualRuntime& runtime_;
    bool stopped_ = false;
};

class VirtualRuntime::Crew final : public Workers {
public:
    Crew(VirtualRuntime& runtime, std::size_t count) : free{count}, runtime_{runtime}, count_{count} {
        runtime_.crews_.push_back(this);
    }
    ~Crew() override {
        await_all();
        std::erase(runtime_.crews_, this);
    }

    void post(std::function<void()> job) override { jobs.push_back(std::move(job)); }
    void finish() override { await_all(); }

    std::deque<std::function<void()>> jobs;
    std::size_t free;  // Workers without a job.

private:
    void await_all() {
        if (!jobs.empty() || free < count_) {
            runtime_.wait([this] { return jobs.empty() && free == count_; });
        }
    }

    VirtualRuntime& runtime_;
    const std::size_t count_;
};

VirtualRuntime::VirtualRuntime(std::uint64_t seed, HandMomentClock& clock)
    : random_{seed}, clock_{clock}, current_{fibers_.emplace_back(std::make_unique<Fiber>()).get()} {}

VirtualRuntime::~VirtualRuntime() {
    if (!timers_.empty() || !crews_.empty()) {
        give_up("it ends before what it made");
    }
}

std::unique_ptr<Timer> VirtualRuntime::timer(std::function<void()> call) {
    return std::make_unique<VirtualTimer>(*this, std::move(call));
}

std::unique_ptr<Workers> VirtualRuntime::hire(std::size_t count) {
    return std::make_unique<Crew>(*this, count);
}

void VirtualRuntime::sleep(std::chrono::nanoseconds length) { suspend(now() + length, {}); }

void VirtualRuntime::wait(const std::function<bool()>& holds) { suspend(SteadyTime::max(), holds); }

void VirtualRuntime::suspend(SteadyTime wake, const std::function<bool()>& holds) {
    if (is_in_timer_) {
        give_up("the call of a timer waits");
    }
    current_->wake = wake;
    current_->holds = holds ? &holds : nullptr;
    let_others_run();
}

void VirtualRuntime::let_others_run() {
    const Fiber& self = *current_;
    while (self.waits()) {
        look_around();
        if (steps_.empty()) {
            jump();
        } else {
            take(steps_[random_.below(steps_.size())]);
        }
    }
}

// Returns when somebody switches back.
void VirtualRuntime::switch_to(Fiber& next) {
    next.go_on();
    Fiber& self = *std::exchange(current_, &next);
    if (&next != &self) {
        self.leave_for(next);
    }
}

void VirtualRuntime::start(Crew& crew) {
    --crew.free;
    auto idle = std::find_if(fibers_.begin(), fibers_.end(), [](const auto& fiber) { return fiber->idle; });
    if (idle == fibers_.end()) {
        fibers_.push_back(std::make_unique<Fiber>([this] { work(); }));
        idle = std::prev(fibers_.end());
    }
    (*idle)->job = [&crew, job = std::move(crew.jobs.front())] {
        job();
        ++crew.free;
    };
    crew.jobs.pop_front();
    switch_to(**idle);
}

// What a fiber does: job after job.
void VirtualRuntime::work() {
    for (;;) {
        std::exchange(current_->job, nullptr)();
        current_->idle = true;
        let_others_run();
    }
}

void VirtualRuntime::look_around() {
    const SteadyTime time = now();
    steps_.clear();
    for (VirtualTimer* timer : timers_) {
        if (timer->when <= time) {
            steps_.push_back({.timer = timer});
        }
    }
    for (Crew* crew : crews_) {
        if (crew->free > 0 && !crew->jobs.empty()) {
            steps_.push_back({.crew = crew});
        }
    }
    for (const auto& fiber : fibers_) {
        if (fiber->wake <= time || (fiber->holds != nullptr && (*fiber->holds)())) {
            steps_.push_back({.fiber = fiber.get()});
        }
    }
}

void VirtualRuntime::take(Step step) {
    if (step.crew != nullptr) {
        start(*step.crew);
    } else if (step.fiber != nullptr) {
        switch_to(*step.fiber);
    } else {
        step.timer->when = SteadyTime::max();
        is_in_timer_ = true;
        step.timer->call();
        is_in_timer_ = false;
    }
}

void VirtualRuntime::jump() {
    SteadyTime next = SteadyTime::max();
    for (const VirtualTimer* timer : timers_) {
        next = std::min(next, timer->when);
    }
    for (const auto& fiber : fibers_) {
        next = std::min(next, fiber->wake);
    }
    if (next == SteadyTime::max()) {
        give_up("somebody waits for what will never happen");
    }
    clock_.set(reached(next));
}

}  // namespace sluice::test
