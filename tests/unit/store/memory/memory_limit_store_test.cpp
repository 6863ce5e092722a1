#include "store/memory/memory_limit_store.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <map>
#include <set>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>

#include "base/random.hpp"
#include "store/memory/fast_clock.hpp"
#include "store/memory/key_hash.hpp"
#include "store/memory/plan_numbers.hpp"
#include "support/hand_moment_clock.hpp"
#include "support/limit_words.hpp"

namespace sluice::test {
namespace {

const Plan kGold = plan("gold", bucket(10, 1, 1s));
constexpr std::array kOnlyGold{&kGold};

class MemoryLimitStoreTest : public testing::Test {
protected:
    void open(std::size_t keys_max, WhenKeysFull when_full = WhenKeysFull::Deny) {
        store_ = make_memory_limit_store({.keys_max = keys_max, .when_full = when_full, .seed = 3}, clock_);
    }
    CheckOutcome outcome_of(const std::string& key, Tokens cost = 1) {
        const std::array plans{&kGold};
        const Check check{key, plans, cost};
        CheckOutcome outcome = Verdict{};
        store_->take({&check, 1}, {&outcome, 1});
        return outcome;
    }
    // REQUIRES: no fault.
    Verdict take(const std::string& key, Tokens cost = 1) { return outcome_of(key, cost).value(); }
    static std::string key(std::size_t number) { return "key-" + std::to_string(number); }

    HandMomentClock clock_{kMidnight};
    std::unique_ptr<MemoryLimitStore> store_;
};

TEST_F(MemoryLimitStoreTest, KeepsSlidingWindowsAndLeasesWithinABound) {
    constexpr std::size_t kBytes = 64 * 1'024;
    store_ = make_memory_limit_store({.keys_max = 100'000, .seed = 3, .list_bytes_max = kBytes}, clock_);
    const Plan log = plan("log", good(SlidingWindow::make(1'024, 1min)));
    const Plan places = plan("places", good(Concurrency::make(1'024, 1min)));
    const auto take_from = [&](const Plan& each, const std::string& name) {
        const std::array<const Plan*, 1> plans{&each};
        const Check check{name, plans, 1};
        CheckOutcome outcome = Verdict{};
        store_->take({&check, 1}, {&outcome, 1});
        return outcome.value();
    };
    const auto fill = [&](const Plan& each, std::size_t keys) {
        std::size_t admitted = 0;
        for (std::size_t i = 0; i < 20'000; ++i) {
            clock_.advance(1us);
            admitted += take_from(each, key(i % keys)).allowed ? 1 : 0;
            EXPECT_LE(store_->figures().list_bytes, kBytes);
        }
        return admitted;
    };

    for (const Plan* each : {&log, &places}) {
        for (const std::size_t keys : {std::size_t{7}, std::size_t{5'000}}) {
            EXPECT_GT(fill(*each, keys), 1'000U) << each->name();
            const Verdict refused = take_from(*each, key(0));
            EXPECT_FALSE(refused.allowed) << each->name();
            EXPECT_GT(refused.retry_after, 0s);
            EXPECT_TRUE(take("of another kind").allowed);
            clock_.advance(2min);
            EXPECT_TRUE(take_from(*each, "one more").allowed) << "what is idle makes room";
            clock_.advance(2min);
        }
    }
    const std::array plans{&log, &places};
    EXPECT_TRUE(store_->reset("one more", plans));
    EXPECT_EQ(store_->figures().list_bytes, 0U) << "all that was taken is given back";
}

// Two keys of one length whose entries differ in nothing but the key.
std::pair<std::string, std::string> alike(const KeyHash& hash) {
    std::map<std::uint32_t, std::string> seen;
    for (std::size_t i = 1'000'000;; ++i) {
        std::string name = "key-" + std::to_string(i);
        const auto [other, is_new] = seen.try_emplace(static_cast<std::uint32_t>(hash(name)), name);
        if (!is_new) {
            return {other->second, name};
        }
    }
}

TEST_F(MemoryLimitStoreTest, TellsKeysOfTheSameHashApart) {
    open(100);  // One shard.
    const auto [one, other] = alike(KeyHash{3});

    EXPECT_EQ(take(one, 4).remaining, 6);
    EXPECT_EQ(take(other, 1).remaining, 9);
    EXPECT_EQ(take(one, 1).remaining, 5);
    EXPECT_EQ(take(other, 1).remaining, 8);
}

// Keys that somebody chose so that they all meet in one part of the store.
TEST_F(MemoryLimitStoreTest, RefusesNewKeysWhoseShardHasNoRoomAndKeepsTheOthers) {
    constexpr std::size_t kKeysMax = 20'000;
    open(kKeysMax);
    const KeyHash hash{3};
    std::vector<std::string> held;
    bool refused = false;
    for (std::size_t i = 0; held.size() < kKeysMax && !refused; ++i) {
        if (hash(key(i)) >> 56U == 0) {
            refused = !take(key(i), 3).allowed;
            held.push_back(key(i));
        }
    }

    ASSERT_TRUE(refused);
    held.pop_back();
    for (const std::string& known : held) {
        ASSERT_EQ(take(known, 1).remaining, 6) << known;
    }
}

TEST_F(MemoryLimitStoreTest, HoldsAsManyKeysAsItMay) {
    for (const std::size_t keys_max : {1U, 2U, 100U, 1'000U, 20'000U}) {
        open(keys_max);

        for (std::size_t i = 0; i < keys_max; ++i) {
            ASSERT_TRUE(take(key(i)).allowed) << i << " of " << keys_max;
        }

        EXPECT_EQ(store_->figures().keys_held, keys_max);
        EXPECT_FALSE(take("one more").allowed);
        EXPECT_EQ(store_->figures().keys_refused, 1U);
    }
}

TEST_F(MemoryLimitStoreTest, NeverDropsAKeyThatCouldStillDeny) {
    open(1'000);
    for (std::size_t i = 0; i < 1'000; ++i) {
        take(key(i), 10);
    }

    for (std::size_t i = 0; i < 5'000; ++i) {
        clock_.advance(100us);
        EXPECT_FALSE(take("hostile-" + std::to_string(i)).allowed);
    }

    for (std::size_t i = 0; i < 1'000; ++i) {
        ASSERT_FALSE(take(key(i), 10).allowed);
    }
    EXPECT_EQ(store_->figures().keys_expired, 0U);
}

TEST_F(MemoryLimitStoreTest, DropsIdleKeysFirst) {
    open(1'000);
    for (std::size_t i = 0; i < 1'000; ++i) {
        take(key(i), i < 600 ? 1 : 10);
    }

    clock_.advance(1s);  // The first 600 are full again.

    for (std::size_t i = 0; i < 600; ++i) {
        ASSERT_TRUE(take("new-" + std::to_string(i)).allowed) << i;
    }
    EXPECT_EQ(store_->figures().keys_expired, 600U);
    EXPECT_FALSE(take(key(999), 2).allowed);
    EXPECT_FALSE(take("one more").allowed);
}

TEST_F(MemoryLimitStoreTest, TellsANewKeyWhenThereMayBeRoom) {
    open(2);
    take("a", 3);
    take("b", 7);

    const Verdict denied = take("c");

    EXPECT_FALSE(denied.allowed);
    EXPECT_EQ(denied.retry_after, 3s);
    clock_.advance(denied.retry_after);
    EXPECT_TRUE(take("c").allowed);
}

TEST_F(MemoryLimitStoreTest, TellsANewKeyWhenItWillLookForIdleKeysAgain) {
    open(2);
    take("a");
    take("b", 2);
    clock_.advance(1s);
    ASSERT_TRUE(take("c", 10).allowed);  // In place of a.
    clock_.advance(50ms);
    ASSERT_TRUE(store_->refund({"c", kOnlyGold, 10}));  // Idle at once, but it has looked just now.

    const Verdict denied = take("d");

    EXPECT_FALSE(denied.allowed);
    EXPECT_EQ(denied.retry_after, 50ms);
    clock_.advance(50ms - 1us);
    EXPECT_FALSE(take("d").allowed);
    clock_.advance(1us);
    EXPECT_TRUE(take("d").allowed);
}

TEST_F(MemoryLimitStoreTest, FindsKeysThatAChangedPlanMadeIdleSooner) {
    open(1);
    const Plan slow = plan("gold", bucket(10, 1, 1h));
    const std::array plans{&slow};
    const Check check{"a", plans, 1};
    CheckOutcome outcome = Verdict{};
    store_->take({&check, 1}, {&outcome, 1});
    take("a");  // By a plan of that name that fills within seconds.
    clock_.advance(10s);

    EXPECT_TRUE(take("b").allowed);
}

TEST_F(MemoryLimitStoreTest, RefusesAChainThatNeedsMoreRoomThanThereIs) {
    open(1);
    const Plan silver = plan("silver", bucket(5, 1, 1s));
    const std::array both{&kGold, &silver};
    const Check check{"a", both, 1};
    CheckOutcome outcome = Verdict{};

    store_->take({&check, 1}, {&outcome, 1});

    EXPECT_EQ(outcome.error(), LimitFault::Full);
    EXPECT_EQ(store_->figures().keys_held, 0U);
}

TEST_F(MemoryLimitStoreTest, RefusesABoundThatCannotBe) {
    EXPECT_THROW(open(0), std::invalid_argument);
    EXPECT_THROW(open((std::size_t{1} << 31U) + 1), std::invalid_argument);
}

TEST_F(MemoryLimitStoreTest, FailsInPlaceOfDenyingWhereThatIsWanted) {
    open(1, WhenKeysFull::Fail);
    take("a");

    EXPECT_EQ(outcome_of("b").error(), LimitFault::Full);
    EXPECT_TRUE(take("a").allowed);
    EXPECT_TRUE(take("b", 0).allowed);  // A peek holds nothing.
}

TEST_F(MemoryLimitStoreTest, ChargesNoPlanOfAChainThatFindsNoRoom) {
    open(2, WhenKeysFull::Fail);
    const Plan silver = plan("silver", bucket(5, 1, 1s));
    const std::array both{&kGold, &silver};
    take("a", 2);
    take("b");
    const Check check{"a", both, 1};
    CheckOutcome outcome = Verdict{};

    store_->take({&check, 1}, {&outcome, 1});

    EXPECT_EQ(outcome.error(), LimitFault::Full);
    EXPECT_EQ(take("a", 0).remaining, 8);
    EXPECT_EQ(store_->figures().keys_held, 2U);
}

TEST_F(MemoryLimitStoreTest, TakesKeysTogetherOnlyWhenThereIsRoomForAll) {
    open(3);
    take("a", 2);
    take("b", 4);
    const std::array together{Check{"a", kOnlyGold}, Check{"c", kOnlyGold}, Check{"d", kOnlyGold}};

    const CheckOutcome denied = store_->take_together(together);

    EXPECT_FALSE(denied->allowed);
    EXPECT_EQ(denied->plan, 1U) << "the first that is new";
    EXPECT_EQ(denied->retry_after, 2s);
    EXPECT_EQ(store_->figures().keys_held, 2U);
    EXPECT_EQ(store_->figures().keys_refused, 1U);
    EXPECT_EQ(take("a", 0).remaining, 8);
    clock_.advance(4s);  // Both are idle.
    EXPECT_TRUE(store_->take_together(together)->allowed);
    EXPECT_EQ(store_->figures().keys_held, 3U);
    EXPECT_EQ(store_->figures().keys_expired, 2U);
}

TEST_F(MemoryLimitStoreTest, RefusesKeysTogetherThatCouldNeverFit) {
    open(2);
    std::array together{Check{"a", kOnlyGold}, Check{"b", kOnlyGold}, Check{"c", kOnlyGold}};

    EXPECT_EQ(store_->take_together(together).error(), LimitFault::Full);
    EXPECT_EQ(store_->figures().keys_held, 0U);
    together[2].cost = 0;  // A peek needs no room.
    EXPECT_TRUE(store_->take_together(together)->allowed);
    EXPECT_EQ(store_->figures().keys_held, 2U);

    open(2, WhenKeysFull::Fail);
    take("other", 10);
    EXPECT_EQ(store_->take_together(together).error(), LimitFault::Full);
}

// Over many shards, and while others bring keys of their own.
TEST_F(MemoryLimitStoreTest, HoldsItsBoundWhileManyThreadsTakeNewKeysTogether) {
    open(2'000);
    std::atomic<std::size_t> admitted{0};
    {
        std::vector<std::jthread> threads;
        for (std::size_t thread = 0; thread < 4; ++thread) {
            threads.emplace_back([&, thread] {
                for (std::size_t i = 0; i < 500; ++i) {
                    const std::string one = key(thread * 1'000 + 2 * i);
                    const std::string other = key(thread * 1'000 + 2 * i + 1);
                    const std::array both{Check{one, kOnlyGold}, Check{other, kOnlyGold}};
                    admitted += store_->take_together(both)->allowed ? 2U : 0U;
                }
            });
        }
    }

    EXPECT_LE(admitted.load(), 2'000U);
    EXPECT_GE(admitted.load(), 1'990U) << "two threads that both find the last place may both leave it";
    EXPECT_EQ(store_->figures().keys_held, admitted.load());
}

TEST_F(MemoryLimitStoreTest, ADroppedKeyIsWhatItWasWhenItWent) {
    open(1);
    take("a", 10);
    clock_.advance(10s);
    take("b", 10);  // Drops a, whose bucket is full by now.
    clock_.advance(10s);

    EXPECT_EQ(take("a", 4).remaining, 6);
}

TEST_F(MemoryLimitStoreTest, BoundsItsOverrides) {
    store_ = make_memory_limit_store({.keys_max = 10, .seed = 1, .overrides_max = 2}, clock_);
    const LimitOverride generous{bucket(100, 1, 1s), kMidnight + 1min};

    EXPECT_TRUE(store_->put_override("a", kGold, generous));
    EXPECT_TRUE(store_->put_override("b", kGold, generous));
    EXPECT_EQ(store_->put_override("c", kGold, generous).error(), LimitFault::Full);
    EXPECT_TRUE(store_->put_override("a", kGold, generous));
    clock_.advance(1min);
    EXPECT_TRUE(store_->put_override("c", kGold, {bucket(100, 1, 1s), kMidnight + 1h}));
}

TEST_F(MemoryLimitStoreTest, ExpiredOverridesOfOtherKeysMakeRoomForNewOnes) {
    store_ = make_memory_limit_store({.keys_max = 100'000, .seed = 1, .overrides_max = 50}, clock_);
    for (std::size_t i = 0; i < 50; ++i) {
        ASSERT_TRUE(store_->put_override(key(i), kGold, {bucket(100, 1, 1s), kMidnight + 1min}));
    }
    clock_.advance(1min);

    for (std::size_t i = 50; i < 100; ++i) {
        ASSERT_TRUE(store_->put_override(key(i), kGold, {bucket(100, 1, 1s), kMidnight + 1h})) << i;
    }
    EXPECT_EQ(store_->put_override("one more", kGold, {bucket(100, 1, 1s), kMidnight + 1h}).error(),
              LimitFault::Full);
    EXPECT_EQ(take("one more").limit, 10);
}

// Keys come and go in every order, short and long, with logs on the heap or without: nothing is lost or mixed
// up.
TEST_F(MemoryLimitStoreTest, FindsEveryKeyAgainWhateverWasErasedAround) {
    open(300);
    const Plan log = plan("log", good(SlidingWindow::make(10, 1h)));
    const Plan hourly = plan("hourly", aligned(10, 1h));
    const std::array both{&log, &hourly};
    std::map<std::string, Tokens> used;
    Random random{5};

    for (int turn = 0; turn < 20'000; ++turn) {
        const auto number = random.below(140);
        const std::string name = std::string(number % 40 + 1, 'k') + std::to_string(number);
        if (random.below(4) == 0) {
            ASSERT_TRUE(store_->reset(name, both));
            used.erase(name);
            continue;
        }
        const Check check{name, both, 1};
        CheckOutcome outcome = Verdict{};
        store_->take({&check, 1}, {&outcome, 1});
        ASSERT_EQ(outcome->allowed, used[name] < 10) << name << " in turn " << turn;
        used[name] += outcome->allowed ? 1 : 0;
        ASSERT_EQ(outcome->remaining, 10 - used[name]);
    }
    const auto live =
        std::count_if(used.begin(), used.end(), [](const auto& each) { return each.second > 0; });
    EXPECT_EQ(store_->figures().keys_held, 2 * static_cast<std::size_t>(live));
}

TEST_F(MemoryLimitStoreTest, HoldsItsBoundWhileManyThreadsBringNewKeys) {
    open(2'000);
    std::atomic<std::size_t> admitted{0};
    {
        std::vector<std::jthread> threads;
        for (std::size_t thread = 0; thread < 8; ++thread) {
            threads.emplace_back([&, thread] {
                for (std::size_t i = 0; i < 1'000; ++i) {
                    admitted += take(key(thread * 1'000 + i), 10).allowed ? 1U : 0U;
                }
            });
        }
    }

    EXPECT_EQ(admitted.load(), 2'000U);
    EXPECT_EQ(store_->figures().keys_held, 2'000U);
}

TEST_F(MemoryLimitStoreTest, LosesNoKeyWhileManyThreadsBringNewOnesAndIdleOnesGo) {
    open(1'000);
    std::atomic<std::size_t> admitted{0};
    {
        std::vector<std::jthread> threads;
        for (std::size_t thread = 0; thread < 8; ++thread) {
            threads.emplace_back([&, thread] {
                for (std::size_t i = 0; i < 3'000; ++i) {
                    admitted += take(key(thread * 3'000 + i)).allowed ? 1U : 0U;
                    clock_.advance(200us);
                }
            });
        }
    }

    const MemoryLimitFigures figures = store_->figures();
    EXPECT_GT(figures.keys_expired, 0U);
    EXPECT_LE(figures.keys_held, 1'000U);
    EXPECT_EQ(figures.keys_held + figures.keys_expired, admitted.load());
}

TEST(PlanNumbers, GivesEachNameOneNumberAndNoMoreThanItMay) {
    auto numbers = std::make_unique<PlanNumbers>();
    std::set<int> seen;

    for (std::size_t i = 0; i < PlanNumbers::kNamesMax; ++i) {
        seen.insert(numbers->number_of(plan("p" + std::to_string(i), bucket(1, 1, 1s))));
    }

    EXPECT_EQ(seen.size(), PlanNumbers::kNamesMax);
    EXPECT_EQ(numbers->number_of(plan("p7", bucket(2, 1, 1s))), 7);
    EXPECT_EQ(numbers->number_of(plan("another", bucket(1, 1, 1s))), PlanNumbers::kNone);
}

TEST(PlanNumbers, TellApartPlansThatShareAPlace) {
    auto numbers = std::make_unique<PlanNumbers>();
    const Plan first = plan("first", bucket(1, 1, 1s));
    Plan other = plan("other", bucket(1, 1, 1s));
    while ((other.id() - first.id()) % (2 * PlanNumbers::kNamesMax) != 0) {
        other = plan("other", bucket(1, 1, 1s));
    }
    const auto number = numbers->number_of(first);

    EXPECT_EQ(numbers->find(other), PlanNumbers::kNone);
    EXPECT_NE(numbers->number_of(other), number);
    EXPECT_EQ(numbers->find(first), number);
    EXPECT_NE(numbers->find(other), number);
    EXPECT_EQ(numbers->find(first), number);
}

TEST(KeyHash, DependsOnEveryByteAndOnTheSeed) {
    for (std::size_t length = 1; length <= 64; ++length) {
        const std::string text(length, 'a');
        std::set<std::uint64_t> seen{KeyHash{1}(text), KeyHash{3}(text)};
        for (std::size_t i = 0; i < length; ++i) {
            std::string other = text;
            other[i] = 'b';
            seen.insert(KeyHash{1}(other));
        }
        EXPECT_EQ(seen.size(), length + 2) << length;
    }
}

// Whoever knows the source but not the seed must not find keys that collide.
TEST(KeyHash, TellsKeysApartThatHoldItsConstants) {
    for (const std::uint64_t constant : {0x2D358DCCAA6C78A5U, 0x8BB84B93962EACC9U, std::uint64_t{0}}) {
        std::set<std::uint64_t> seen;
        for (std::uint64_t i = 0; i < 1'000; ++i) {
            std::array<std::uint64_t, 4> words{constant, i, constant, 7};
            std::string text(sizeof(words), '\0');
            std::memcpy(text.data(), words.data(), text.size());
            seen.insert(KeyHash{12345}(text));
            seen.insert(KeyHash{12345}(text.substr(0, 24)));
        }
        EXPECT_EQ(seen.size(), 2'000U) << std::hex << constant;
    }
}

TEST(SameBytes, ComparesEveryByte) {
    for (std::size_t length = 1; length <= 40; ++length) {
        const std::string text(length, 'a');
        EXPECT_TRUE(same_bytes(text.data(), std::string(text).data(), length));
        for (std::size_t i = 0; i < length; ++i) {
            std::string other = text;
            other[i] = 'b';
            EXPECT_FALSE(same_bytes(text.data(), other.data(), length)) << i << " of " << length;
        }
    }
}

// Whether readings lie between those of the wall clock before and after, but for some microseconds.
bool stays_with_the_wall_clock(const MomentClock& clock, int readings) {
    const auto wall = [] { return std::chrono::floor<Wait>(std::chrono::system_clock::now()); };
    for (int i = 0; i < readings; ++i) {
        const Moment before = wall();
        const Moment now = clock.now();
        if (now < before - 50us || now > wall() + 50us) {
            return false;
        }
    }
    return true;
}

TEST(FastClock, StaysWithTheWallClock) {
    EXPECT_TRUE(stays_with_the_wall_clock(*make_fast_clock(), 100'000));
    EXPECT_TRUE(stays_with_the_wall_clock(*make_system_clock(), 1'000));
}

TEST(FastClock, StaysWithTheWallClockOnManyThreads) {
    const auto clock = make_fast_clock();
    std::atomic<int> good_threads{0};
    {
        std::vector<std::jthread> threads;
        for (int thread = 0; thread < 4; ++thread) {
            threads.emplace_back([&] { good_threads += stays_with_the_wall_clock(*clock, 50'000) ? 1 : 0; });
        }
    }

    EXPECT_EQ(good_threads.load(), 4);
}

}  // namespace
}  // namespace sluice::test
