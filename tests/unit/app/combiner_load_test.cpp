#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "app/combiner.hpp"
#include "base/random.hpp"

namespace sluice {
namespace {

using Ints = Combiner<int, int>;
using Outcome = Result<int, Refusal>;

TEST(Combiner, CompletesEveryRequestExactlyOnceUnderLoad) {
    const auto runtime = make_machine_runtime();
    constexpr std::size_t kThreads = 8;
    constexpr std::size_t kEach = 4000;
    std::vector<std::atomic<int>> completed(kThreads * kEach);
    std::atomic<std::size_t> wrong = 0;
    std::atomic<std::size_t> oversized = 0;
    {
        Ints combiner{*runtime, {.batch_max = 16, .queue_max = 64, .workers = 3}, [&](std::span<int> batch) {
                          oversized += batch.size() > 16 ? 1U : 0U;
                          return std::vector<int>(batch.begin(), batch.end());
                      }};
        std::vector<std::jthread> threads;
        for (std::size_t thread = 0; thread < kThreads; ++thread) {
            threads.emplace_back([&, thread] {
                Random random{thread};
                for (std::size_t i = 0; i < kEach; ++i) {
                    const std::size_t id = thread * kEach + i;
                    const auto done = [&, id](const Outcome& outcome) {
                        ++completed[id];
                        wrong += outcome && *outcome != static_cast<int>(id) ? 1U : 0U;
                    };
                    const auto deadline = random.below(10) == 0 ? SteadyTime::min() : SteadyTime::max();
                    const auto when = random.below(4) == 0 ? WhenFull::WaitForRoom : WhenFull::Refuse;
                    combiner.submit({static_cast<int>(id), done, deadline, 1 + random.below(20), when});
                }
            });
        }
    }

    for (const auto& count : completed) {
        ASSERT_EQ(count.load(), 1);
    }
    EXPECT_EQ(wrong.load(), 0U);
    EXPECT_EQ(oversized.load(), 0U);
}

}  // namespace
}  // namespace sluice
