// What nodes that share a store promise together: the overshoot of leases, and that a denial which is
// remembered is one that the store would repeat.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/random.hpp"
#include "support/node_under_test.hpp"

namespace sluice::test {
namespace {

std::int64_t between(Random& random, std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(most - least + 1)));
}

// Nodes over one store, and all that they admit of one key. While one of them waits for the store, other
// checks come to it.
class Fleet {
public:
    explicit Fleet(std::uint64_t seed) : random_{seed} {
        const PlanDraft draft{.name = "p",
                              .algorithm = "token_bucket",
                              .capacity = capacity_,
                              .refill = std::to_string(refill_) + "/s",
                              .lease = lease_};
        good(book_.put(draft));
        plans_ = book_.current();
        NodeStoreOptions options;
        options.denials.longest = Wait{between(random_, 0, 1) * 300'000};
        for (std::int64_t i = 0; i < count_; ++i) {
            nodes_.push_back(
                std::make_unique<NodeStore>(options, NodeStoreWorld{store_, book_, metrics_, steady_}));
        }
        store_.before = [this](std::uint64_t) -> std::optional<LimitFault> {
            interrupt();
            return std::nullopt;
        };
        store_.after_take = [this] { interrupt(); };
    }

    void live() {
        for (int turn = 0; turn < 40; ++turn) {
            const auto kind = random_.below(8);
            if (kind == 0) {
                clock_.advance(Wait{between(random_, 0, 2'000'000)});
            } else if (kind == 1) {
                asking_ = &any_node();
                asking_->give_back_ended(Wait{0});
            } else {
                check(any_node(), between(random_, 1, lease_ + 2));
            }
        }
        // The worst that can follow: everybody takes a block, the bucket fills, and all is taken.
        fill();
        for (auto& node : nodes_) {
            check(*node, 1);
        }
        fill();
        for (int i = 0; i < 4; ++i) {
            for (auto& node : nodes_) {
                while (check(*node, 1)) {
                }
                clock_.advance(Wait{between(random_, 0, 1) * 100'000});
            }
        }
    }

    // The most that was admitted in any stretch beyond what the bucket alone may give, in whole tokens.
    [[nodiscard]] Tokens overshoot() const {
        Tokens most = 0;
        for (std::size_t first = 0; first < admitted_.size(); ++first) {
            Tokens sum = 0;
            for (std::size_t last = first; last < admitted_.size(); ++last) {
                sum += admitted_[last].second;
                const Wait stretch = admitted_[last].first - admitted_[first].first;
                most = std::max(most, sum - capacity_ - refill_ * stretch.count() / 1'000'000);
            }
        }
        return most;
    }
    [[nodiscard]] Tokens bound() const { return count_ * lease_; }

private:
    void fill() { clock_.advance(2'000'000us * capacity_ / refill_); }
    NodeStore& any_node() { return *nodes_[random_.below(nodes_.size())]; }

    bool check(NodeStore& node, Tokens cost) {
        if (cost > capacity_) {
            return false;
        }
        const Plan* const plan = &plans_->find("p")->plan;
        const Check check{"k", {&plan, 1}, cost};
        asking_ = &node;
        CheckOutcome outcome = Unexpected{LimitFault::Unavailable};
        if (const auto known = node.known(check)) {
            outcome = *known;
        } else {
            node.take({&check, 1}, {&outcome, 1});
        }
        if (outcome->allowed) {
            admitted_.emplace_back(clock_.now(), cost);
        }
        return outcome->allowed;
    }

    void interrupt() {
        if (depth_ < 2 && random_.below(2) == 0) {
            ++depth_;
            check(*asking_, between(random_, 1, lease_));
            --depth_;
        }
    }

    Random random_;
    std::int64_t count_ = between(random_, 1, 3);
    Tokens capacity_ = between(random_, 1, 30);
    Tokens refill_ = between(random_, 1, 5);
    Tokens lease_ = between(random_, 1, capacity_);
    HandMomentClock clock_{kMidnight};
    SteadyOf steady_{clock_};
    std::unique_ptr<MemoryLimitStore> memory_ = make_memory_limit_store({.keys_max = 64, .seed = 3}, clock_);
    FaultyLimitStore store_{*memory_};
    PlanBook book_;
    std::shared_ptr<const PlanSet> plans_;
    CountingLimitMetrics metrics_;
    std::vector<std::unique_ptr<NodeStore>> nodes_;
    NodeStore* asking_ = nullptr;
    int depth_ = 0;
    std::vector<std::pair<Moment, Tokens>> admitted_;
};

RC_GTEST_PROP(NodeStoreProperty, LeasesAdmitAtMostABlockOfEachNodeBeyondTheBucket, (std::uint64_t seed)) {
    Fleet fleet{seed};

    fleet.live();

    RC_ASSERT(fleet.overshoot() <= fleet.bound());
}

TEST(NodeStoreProperty, LeasesComeNearTheirBound) {
    double nearest = 0;
    for (std::uint64_t seed = 1; seed <= 500; ++seed) {
        Fleet fleet{seed};
        fleet.live();
        ASSERT_LE(fleet.overshoot(), fleet.bound()) << "seed " << seed;
        nearest =
            std::max(nearest, static_cast<double>(fleet.overshoot()) / static_cast<double>(fleet.bound()));
    }

    EXPECT_GT(nearest, 0.8) << "what is tested is too tame to say anything";
}

// A store with a node in front of it, and one like it without.
class Twins {
public:
    explicit Twins(std::uint64_t seed) : random_{seed} {
        NodeStoreOptions options;
        options.denials = {.longest = Wait{between(random_, 1, 100)}, .keys_max = 128};
        node_ = std::make_unique<NodeStore>(options, NodeStoreWorld{*behind_, book_, metrics_, steady_});
        for (std::size_t i = 0; i < plans_.size(); ++i) {
            change(i);
        }
    }

    void live() {
        for (int turn = 0; turn < 80; ++turn) {
            clock_.advance(Wait{between(random_, 0, 4)});
            const auto kind = random_.below(40);
            if (kind == 0) {
                change(random_.below(plans_.size()));
            } else if (kind < 4) {
                give_back(kind);
            } else {
                ASSERT_NO_FATAL_FAILURE(compare()) << "turn " << turn;
            }
        }
    }
    [[nodiscard]] std::uint64_t spared() const { return metrics_.count(StoreSpared::Denial); }

private:
    using Chain = std::vector<const Plan*>;

    LimitRule any_bucket() {
        return bucket(between(random_, 1, 6), between(random_, 1, 3), Wait{between(random_, 1, 120)});
    }
    LimitRule any_rule() {
        const Tokens limit = between(random_, 1, 6);
        const Wait length{between(random_, 1, 120)};
        switch (random_.below(6)) {
            case 0: return any_bucket();
            case 1: return aligned(limit, length);
            case 2: return from_first_hit(limit, length);
            case 3: return good(SlidingWindow::make(limit, length));
            case 4: return good(SlidingWindowEstimate::make(limit, length));
            default: return good(Cooldown::make(length, limit));
        }
    }
    // Another algorithm, which begins anew, or a bucket: windows of another length go on with the counts of
    // the old ones, and until those are over the store's own waits are not exact.
    void change(std::size_t i) {
        LimitRule rule = any_rule();
        while (plans_[i] && rule.index() == plans_[i]->rule().index() && rule.index() != 0) {
            rule = any_rule();
        }
        plans_[i] = plan("p" + std::to_string(i), rule, {OnStoreFailure::Open, random_.below(8) == 0});
    }
    std::string any_key() { return random_.below(2) == 0 ? "a" : "b"; }
    Chain any_chain() {
        const std::size_t first = random_.below(plans_.size());
        Chain chain{&*plans_[first]};
        if (random_.below(2) == 0) {
            chain.push_back(&*plans_[(first + 1) % plans_.size()]);
        }
        return chain;
    }

    void give_back(std::uint64_t kind) {
        const std::string key = any_key();
        const Chain chain = any_chain();
        const Check check{key, chain, between(random_, 1, 3)};
        const LimitOverride replaced{any_bucket(),
                                     clock_.now() + (random_.below(2) == 0 ? Wait{24h} : Wait{0})};
        for (LimitStore* store : {static_cast<LimitStore*>(node_.get()), static_cast<LimitStore*>(&*bare_)}) {
            if (kind == 1) {
                (void)store->refund(check);
            } else if (kind == 2) {
                (void)store->reset(key, chain);
            } else {
                (void)store->put_override(key, *chain.front(), replaced);
            }
        }
    }

    void compare() {
        const std::string key = any_key();
        const Chain chain = any_chain();
        const Check check{key, chain, between(random_, 0, 4)};
        CheckOutcome exact = Unexpected{LimitFault::Unavailable};
        bare_->take({&check, 1}, {&exact, 1});
        CheckOutcome outcome = Unexpected{LimitFault::Unavailable};
        if (const auto known = node_->known(check)) {
            outcome = *known;
        } else {
            node_->take({&check, 1}, {&outcome, 1});
        }
        if (!exact) {
            ASSERT_FALSE(!outcome && outcome.error() != exact.error());
            ASSERT_FALSE(outcome && outcome->allowed);
            return;
        }
        ASSERT_TRUE(outcome);
        ASSERT_EQ(outcome->allowed, exact->allowed);
        ASSERT_LE(outcome->retry_after, exact->retry_after);
        ASSERT_TRUE(outcome->allowed || outcome->retry_after > Wait{0});
    }

    Random random_;
    HandMomentClock clock_{kMidnight};
    SteadyOf steady_{clock_};
    std::unique_ptr<MemoryLimitStore> behind_ = make_memory_limit_store({.keys_max = 64, .seed = 3}, clock_);
    std::unique_ptr<MemoryLimitStore> bare_ = make_memory_limit_store({.keys_max = 64, .seed = 3}, clock_);
    PlanBook book_;
    CountingLimitMetrics metrics_;
    std::unique_ptr<NodeStore> node_;
    std::array<std::optional<Plan>, 3> plans_;
};

TEST(NodeStoreProperty, DeniesWhatTheStoreWouldDenyAndNothingElse) {
    std::uint64_t spared = 0;
    for (std::uint64_t seed = 1; seed <= 2'000 && !testing::Test::HasFailure(); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Twins twins{seed};
        twins.live();
        spared += twins.spared();
    }

    EXPECT_GT(spared, 4'000U) << "what is tested is too tame to say anything";
}

}  // namespace
}  // namespace sluice::test
