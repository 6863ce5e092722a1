#include <cassert>
#include <condition_variable>
#include <ctime>
#include <deque>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "base/runtime.hpp"

namespace sluice {
namespace {

// The thread that makes the calls of all timers.
// Thread safety: all of it.
class TimerThread {
public:
    struct Entry {
        explicit Entry(std::function<void()> then) : call{std::move(then)} {}

        const std::function<void()> call;
        SteadyTime when = SteadyTime::max();  // Guarded by mutex_, like the next. The farthest: not set.
        bool stopped = false;
    };

    ~TimerThread() {
        {
            const std::lock_guard lock{mutex_};
            assert(due_.empty());
            stopping_ = true;
        }
        changed_.notify_one();
    }

    void start() {
        const std::lock_guard lock{mutex_};
        if (!thread_.joinable()) {
            thread_ = std::jthread{[this] { work(); }};
        }
    }

    void set(Entry& entry, SteadyTime when) {
        const std::lock_guard lock{mutex_};
        if (entry.stopped) {
            return;
        }
        place(entry, when);
        // One that comes later than the first is seen in its time.
        if (!due_.empty() && due_.begin()->second == &entry) {
            changed_.notify_one();
        }
    }

    void stop(Entry& entry) {
        std::unique_lock lock{mutex_};
        entry.stopped = true;
        place(entry, SteadyTime::max());
        assert(under_way_ != &entry || thread_.get_id() != std::this_thread::get_id());
        over_.wait(lock, [&] { return under_way_ != &entry; });
    }

private:
    // With mutex_ held.
    void place(Entry& entry, SteadyTime when) {
        due_.erase(std::pair{entry.when, &entry});
        entry.when = when;
        if (when != SteadyTime::max()) {
            due_.emplace(when, &entry);
        }
    }

    void work() {
        std::unique_lock lock{mutex_};
        while (!stopping_) {
            if (due_.empty()) {
                changed_.wait(lock);
                continue;
            }
            const auto [when, entry] = *due_.begin();
            if (std::chrono::steady_clock::now() < when) {
                changed_.wait_until(lock, when);
                continue;
            }
            place(*entry, SteadyTime::max());
            under_way_ = entry;
            lock.unlock();
            entry->call();
            lock.lock();
            under_way_ = nullptr;
            over_.notify_all();
        }
    }

    std::mutex mutex_;
    std::condition_variable changed_;              // The thread waits: another is first, or it stops.
    std::condition_variable over_;                 // Those who stop a timer wait: its call is over.
    std::set<std::pair<SteadyTime, Entry*>> due_;  // Guarded by mutex_, like all below.
    Entry* under_way_ = nullptr;
    bool stopping_ = false;
    std::jthread thread_;  // Last: it uses all the rest.
};

class MachineTimer final : public Timer {
public:
    MachineTimer(TimerThread& thread, std::function<void()> call) : thread_{thread}, entry_{std::move(call)} {
        thread_.start();
    }
    ~MachineTimer() override { thread_.stop(entry_); }

    void set(SteadyTime when) override { thread_.set(entry_, when); }
    void stop() override { thread_.stop(entry_); }

private:
    TimerThread& thread_;
    TimerThread::Entry entry_;
};

class MachineWorkers final : public Workers {
public:
    explicit MachineWorkers(std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            threads_.emplace_back([this] { work(); });
        }
    }
    ~MachineWorkers() override { join(); }

    void post(std::function<void()> job) override {
        {
            const std::lock_guard lock{mutex_};
            jobs_.push_back(std::move(job));
        }
        arrived_.notify_one();
    }
    void finish() override { join(); }

private:
    void join() {
        {
            const std::lock_guard lock{mutex_};
            finishing_ = true;
        }
        arrived_.notify_all();
        const std::lock_guard lock{join_mutex_};
        threads_.clear();
    }

    void work() {
        std::unique_lock lock{mutex_};
        for (;;) {
            arrived_.wait(lock, [this] { return finishing_ || !jobs_.empty(); });
            if (jobs_.empty()) {
                return;
            }
            auto job = std::move(jobs_.front());
            jobs_.pop_front();
            lock.unlock();
            job();
            job = nullptr;  // What it held goes while the lock is free.
            lock.lock();
        }
    }

    std::mutex mutex_;
    std::condition_variable arrived_;
    std::deque<std::function<void()>> jobs_;  // Guarded by mutex_.
    bool finishing_ = false;                  // Guarded by mutex_.
    std::mutex join_mutex_;
    std::vector<std::jthread> threads_;  // Guarded by join_mutex_ once made. Last: they use all the rest.
};

class MachineRuntime final : public Runtime {
public:
    [[nodiscard]] SteadyTime now() const override { return std::chrono::steady_clock::now(); }
    [[nodiscard]] BootTime boot_now() const override {
        timespec time{};
        ::clock_gettime(CLOCK_BOOTTIME, &time);
        return BootTime{std::chrono::seconds{time.tv_sec} + std::chrono::nanoseconds{time.tv_nsec}};
    }
    std::unique_ptr<Timer> timer(std::function<void()> call) override {
        return std::make_unique<MachineTimer>(timers_, std::move(call));
    }
    std::unique_ptr<Workers> hire(std::size_t count) override {
        assert(count >= 1);
        return std::make_unique<MachineWorkers>(count);
    }

private:
    TimerThread timers_;
};

}  // namespace

std::unique_ptr<Runtime> make_machine_runtime() { return std::make_unique<MachineRuntime>(); }

}  // namespace sluice
