#include <atomic>
#include <barrier>
#include <filesystem>
#include <future>
#include <mutex>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.hpp"
#include "base/runtime.hpp"
#include "support/gate.hpp"

namespace sluice::test {
namespace {

using namespace std::chrono_literals;

std::size_t threads_of_this_process() {
    const std::filesystem::directory_iterator all{"/proc/self/task"};
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

TEST(MachineRuntime, CallsATimerInItsTimeAndNeverBefore) {
    const auto runtime = make_machine_runtime();
    std::promise<SteadyTime> called;
    const auto timer = runtime->timer([&] { called.set_value(runtime->now()); });
    const SteadyTime when = runtime->now() + 20ms;

    timer->set(when);

    EXPECT_GE(called.get_future().get(), when);
}

TEST(MachineRuntime, CallsTheEarlierTimerFirst) {
    const auto runtime = make_machine_runtime();
    std::vector<int> order;  // Touched by the timers' one thread; read when both have called.
    std::promise<void> both;
    const auto later = runtime->timer([&] {
        order.push_back(2);
        both.set_value();
    });
    const auto earlier = runtime->timer([&] { order.push_back(1); });
    const SteadyTime now = runtime->now();

    later->set(now + 20ms);
    earlier->set(now + 10ms);
    both.get_future().get();

    EXPECT_THAT(order, testing::ElementsAre(1, 2));
}

TEST(MachineRuntime, KeepsOnlyTheLastTimeThatATimerIsSetTo) {
    const auto runtime = make_machine_runtime();
    std::atomic<int> calls = 0;
    std::promise<void> after;
    const auto timer = runtime->timer([&] { ++calls; });
    const auto last = runtime->timer([&] { after.set_value(); });
    const SteadyTime now = runtime->now();

    timer->set(now + 10ms);
    timer->set(now + 1h);
    timer->set(now + 15ms);
    last->set(now + 20ms);
    after.get_future().get();
    EXPECT_EQ(calls, 1);

    timer->set(runtime->now() + 1h);
    timer->set(SteadyTime::max());
}

TEST(MachineRuntime, LetsATimerBeSetByItsOwnCall) {
    const auto runtime = make_machine_runtime();
    std::promise<void> thrice;
    int calls = 0;
    std::unique_ptr<Timer> timer;
    timer = runtime->timer([&] {
        if (++calls == 3) {
            thrice.set_value();
        } else {
            timer->set(runtime->now());
        }
    });

    timer->set(runtime->now());

    thrice.get_future().get();
}

TEST(MachineRuntime, WaitsForTheCallThatIsUnderWayWhenATimerIsStopped) {
    const auto runtime = make_machine_runtime();
    Gate gate;
    std::atomic<bool> over = false;
    const auto timer = runtime->timer([&] {
        gate.pass();
        over = true;
    });
    timer->set(runtime->now());
    gate.await_arrival();

    std::jthread stopping{[&] {
        timer->stop();
        EXPECT_TRUE(over);
    }};
    gate.let_go();
    stopping.join();

    timer->set(runtime->now());
    EXPECT_FALSE(gate.has_arrival()) << "nothing is set any more";
}

TEST(MachineRuntime, StopsTimersWhileTheyAreSetAndCalled) {
    const auto runtime = make_machine_runtime();
    std::vector<std::jthread> threads;
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
        threads.emplace_back([&, seed] {
            Random random{seed};
            for (int i = 0; i < 500; ++i) {
                const auto alive = std::make_unique<std::atomic<int>>(0);
                const auto timer = runtime->timer([&] { ++*alive; });
                timer->set(runtime->now() + std::chrono::microseconds{random.below(100)});
                timer->set(runtime->now() + std::chrono::microseconds{random.below(100)});
                if (random.below(2) == 0) {
                    std::this_thread::yield();
                }
                timer->stop();
                const int calls = *alive;
                EXPECT_LE(calls, 2);
            }
        });
    }
}

TEST(MachineRuntime, HasNoThreadsBeforeTheyAreNeededAndOneForAllTimers) {
    // The thread sanitizer adds a thread of its own when a process starts its first one.
    std::thread{[] {}}.join();
    const std::size_t before = threads_of_this_process();
    const auto runtime = make_machine_runtime();
    EXPECT_LE(threads_of_this_process(), before) << "one of before may have ended meanwhile";

    std::vector<std::unique_ptr<Timer>> timers;
    for (int i = 0; i < 8; ++i) {
        timers.push_back(runtime->timer([] {}));
    }

    EXPECT_LE(threads_of_this_process(), before + 1);
}

// Each job waits for the other one: with fewer workers than two this would never end.
TEST(MachineWorkers, RunAsManyJobsAtOnceAsThereAreWorkers) {
    const auto runtime = make_machine_runtime();
    const auto workers = runtime->hire(2);
    std::barrier both{2};

    workers->post([&] { both.arrive_and_wait(); });
    workers->post([&] { both.arrive_and_wait(); });

    workers->finish();
}

TEST(MachineWorkers, BeginJobsInTheirOrder) {
    const auto runtime = make_machine_runtime();
    const auto worker = runtime->hire(1);
    std::vector<int> order;

    for (int i = 0; i < 4; ++i) {
        worker->post([&order, i] { order.push_back(i); });
    }
    worker->finish();

    EXPECT_THAT(order, testing::ElementsAre(0, 1, 2, 3));
}

TEST(MachineWorkers, FinishWhatWasPostedAlsoByTheirJobs) {
    const auto runtime = make_machine_runtime();
    const auto workers = runtime->hire(2);
    std::atomic<int> done = 0;

    workers->post([&] {
        workers->post([&] {
            workers->post([&] { ++done; });
            ++done;
        });
        ++done;
    });
    {
        const std::jthread other{[&] { workers->finish(); }};
        workers->finish();
    }

    EXPECT_EQ(done, 3);
}

}  // namespace
}  // namespace sluice::test
