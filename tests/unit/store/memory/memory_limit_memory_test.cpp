// What the memory store does when the system has no memory left: the Nth allocation fails, for every N.
#include <array>
#include <cstdlib>
#include <new>

#include <gtest/gtest.h>

#include "store/memory/memory_limit_store.hpp"
#include "support/hand_moment_clock.hpp"
#include "support/limit_words.hpp"

namespace {

// Allocations of this thread until one fails; negative: none does.
thread_local int allocations_left = -1;

void* allocate(std::size_t size) {
    if (allocations_left == 0) {
        throw std::bad_alloc{};
    }
    allocations_left -= allocations_left > 0 ? 1 : 0;
    if (void* memory = std::malloc(size)) {  // NOLINT(cppcoreguidelines-no-malloc): this is operator new.
        return memory;
    }
    throw std::bad_alloc{};
}

}  // namespace

// NOLINTBEGIN(cppcoreguidelines-no-malloc): they replace what new and delete call.
void* operator new(std::size_t size) { return allocate(size); }
void* operator new[](std::size_t size) { return allocate(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t /*size*/) noexcept { std::free(memory); }
// NOLINTEND(cppcoreguidelines-no-malloc)

namespace sluice::test {
namespace {

const Plan kGold = plan("gold", bucket(10, 1, 1s));
const Plan kLog = plan("log", good(SlidingWindow::make(10, 1min)));
const Plan kPlaces = plan("places", good(Concurrency::make(10, 1min)));
constexpr std::array kAll{&kGold, &kLog, &kPlaces};
const std::string kLongKey(100, 'k');

class MemoryLimitMemoryTest : public testing::Test {
protected:
    CheckOutcome take(std::span<const Plan* const> plans, Tokens cost = 1) {
        const Check check{kLongKey, plans, cost};
        CheckOutcome outcome = Verdict{};
        store_->take({&check, 1}, {&outcome, 1});
        return outcome;
    }
    Tokens left(const Plan* plan) { return take({&plan, 1}, 0)->remaining; }

    // Calls with the Nth allocation failing, for every N, until none fails. Returns how often one did.
    template <class Call>
    int failures_of(Call call) {
        for (int nth = 0;; ++nth) {
            allocations_left = nth;
            const bool done = call();
            allocations_left = -1;
            if (done) {
                return nth;
            }
        }
    }

    HandMomentClock clock_{kMidnight};
    std::unique_ptr<MemoryLimitStore> store_ = make_memory_limit_store({.keys_max = 10, .seed = 3}, clock_);
};

TEST_F(MemoryLimitMemoryTest, ChargesTheWholeChainOrNothingOfIt) {
    Tokens charged = 0;
    for (int turn = 0; turn < 9; ++turn) {
        const int failures = failures_of([&] {
            const CheckOutcome outcome = take(kAll);
            if (!outcome) {
                EXPECT_EQ(outcome.error(), LimitFault::Unavailable);
                allocations_left = -1;
                for (const Plan* plan : kAll) {
                    EXPECT_EQ(left(plan), 10 - charged) << plan->name();
                }
            }
            return outcome.has_value();
        });
        ++charged;
        EXPECT_TRUE(turn > 0 || failures >= 4) << "the key, two logs and what they hold";
    }
    for (const Plan* plan : kAll) {
        EXPECT_EQ(left(plan), 1) << plan->name();
    }
    EXPECT_EQ(store_->figures().keys_held, 3U);
}

TEST_F(MemoryLimitMemoryTest, ChargesAllKeysTogetherOrNone) {
    store_ = make_memory_limit_store({.keys_max = 100'000, .seed = 3}, clock_);  // Of many shards.
    const std::array keys{kLongKey, kLongKey + "2", kLongKey + "3"};
    const std::array together{Check{keys[0], kAll}, Check{keys[1], kAll}, Check{keys[2], kAll}};
    const auto left_of = [&](const std::string& key) {
        const auto standings = store_->inspect(key, kAll).value();
        return standings[0].remaining + standings[1].remaining + standings[2].remaining;
    };

    for (Tokens charged = 0; charged < 5; ++charged) {
        const int failures = failures_of([&] {
            const CheckOutcome outcome = store_->take_together(together);
            allocations_left = -1;
            for (const std::string& key : keys) {
                EXPECT_EQ(left_of(key), 30 - 3 * (charged + (outcome ? 1 : 0)));
            }
            return outcome.has_value();
        });
        EXPECT_TRUE(charged > 0 || failures >= 4) << "what was made before a failure stays";
    }
    EXPECT_EQ(store_->figures().keys_held, 9U);
}

TEST_F(MemoryLimitMemoryTest, KeepsWhatItHasWhenAPlanCannotChangeItsAlgorithm) {
    EXPECT_TRUE(take({kAll.data(), 1}, 4));
    const Plan changed = plan("gold", good(SlidingWindow::make(5, 1min)));
    const std::array plans{&changed};

    const int failures = failures_of([&] { return take(plans).has_value(); });

    EXPECT_GT(failures, 0);
    EXPECT_EQ(left(&changed), 4);
    EXPECT_EQ(left(kAll[0]), 6);
    EXPECT_EQ(store_->figures().keys_held, 2U);
}

TEST_F(MemoryLimitMemoryTest, CountsOnlyOverridesThatItCouldKeep) {
    store_ = make_memory_limit_store({.keys_max = 10, .seed = 3, .overrides_max = 1}, clock_);
    const LimitOverride replacement{bucket(100, 1, 1s), kMidnight + 1min};

    const int failures =
        failures_of([&] { return store_->put_override(kLongKey, kGold, replacement).has_value(); });

    EXPECT_GT(failures, 0);
    EXPECT_EQ(store_->put_override("another", kGold, replacement).error(), LimitFault::Full);
    EXPECT_EQ(take({kAll.data(), 1})->limit, 100);
}

}  // namespace
}  // namespace sluice::test
