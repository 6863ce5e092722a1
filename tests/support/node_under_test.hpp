#pragma once

#include <gtest/gtest.h>

#include "app/limits/node_store.hpp"
#include "store/memory/memory_limit_store.hpp"
#include "support/counting_limit_metrics.hpp"
#include "support/faulty_limit_store.hpp"
#include "support/hand_moment_clock.hpp"
#include "support/limit_words.hpp"

namespace sluice::test {

// A node over a memory store, both with a clock that a test moves. Denials are believed for ten seconds.
// "gold" has 3 tokens; "block" has 20 and a lease of 5; "daily" counts windows; "tried" is in shadow mode and
// has 2 and a lease of 2; "places" gives leases of its own kind.
class NodeUnderTest : public ::testing::Test {
protected:
    using Names = std::vector<std::string_view>;

    NodeUnderTest() {
        EXPECT_TRUE(book_.load({
            {.name = "gold", .algorithm = "token_bucket", .capacity = 3, .refill = "1/s"},
            {.name = "block", .algorithm = "token_bucket", .capacity = 20, .refill = "1/s", .lease = 5},
            {.name = "daily", .algorithm = "fixed_window", .capacity = 10, .window = "PT24H"},
            {.name = "tried",
             .algorithm = "token_bucket",
             .capacity = 2,
             .refill = "1/h",
             .shadow = true,
             .lease = 2},
            {.name = "places", .algorithm = "concurrency", .capacity = 1, .window = "PT1M"},
        }));
        options_.denials.longest = 10s;
        open();
    }

    void open() {
        node_ = std::make_unique<NodeStore>(options_, NodeStoreWorld{store_, book_, metrics_, steady_});
    }

    std::vector<const Plan*> plans(const Names& names) {
        sets_.push_back(book_.current());  // Keeps alive what is pointed at.
        std::vector<const Plan*> found;
        for (const auto name : names) {
            found.push_back(&sets_.back()->find(name)->plan);
        }
        return found;
    }
    // As the service asks: the node first, then the store.
    CheckOutcome ask(std::string_view key, const Names& names, Tokens cost = 1) {
        const auto asked = plans(names);
        const Check check{key, asked, cost};
        if (const auto known = node_->known(check)) {
            return *known;
        }
        CheckOutcome outcome = Unexpected{LimitFault::Unavailable};
        node_->take({&check, 1}, {&outcome, 1});
        return outcome;
    }
    bool allowed(std::string_view key, const Names& names, Tokens cost = 1) {
        return ask(key, names, cost).value().allowed;
    }
    // What the store itself has left, whatever the node holds.
    Tokens in_store(std::string_view key, std::string_view plan) {
        return memory_->inspect(key, plans({plan})).value().front().remaining;
    }
    // Calls of the store that `work` makes.
    template <class Work>
    std::uint64_t calls_of(Work work) {
        const std::uint64_t before = store_.calls;
        work();
        return store_.calls - before;
    }
    void break_store() {
        store_.before = [](std::uint64_t) { return std::optional{LimitFault::Unavailable}; };
    }
    void reset(std::string_view key, std::string_view plan) { EXPECT_TRUE(node_->reset(key, plans({plan}))); }
    void put_override(std::string_view key, std::string_view plan, const LimitRule& rule) {
        EXPECT_TRUE(node_->put_override(key, *plans({plan}).front(), {rule, clock_.now() + 1h}));
    }

    HandMomentClock clock_{kMidnight};
    SteadyOf steady_{clock_};
    std::unique_ptr<MemoryLimitStore> memory_ =
        make_memory_limit_store({.keys_max = 100'000, .seed = 7}, clock_);
    FaultyLimitStore store_{*memory_};
    PlanBook book_;
    CountingLimitMetrics metrics_;
    NodeStoreOptions options_;
    std::unique_ptr<NodeStore> node_;

private:
    std::vector<std::shared_ptr<const PlanSet>> sets_;
};

}  // namespace sluice::test
