#include <array>

#include <gtest/gtest.h>

#include "base/random.hpp"
#include "support/chain_links.hpp"
#include "support/limit_words.hpp"
#include "support/redis_fixture.hpp"

namespace sluice::test {
namespace {

// Tells each check of a batch its own time.
class QueuedClock final : public MomentClock {
public:
    [[nodiscard]] Moment now() const override { return times_.at(next_++); }
    void set(std::vector<Moment> times) {
        times_ = std::move(times);
        next_ = 0;
    }

private:
    std::vector<Moment> times_;
    mutable std::size_t next_ = 0;
};

// Some rules look a century ahead: following them would leave the time that limits know.
constexpr Wait kEdgeMax = std::chrono::days{400};
constexpr std::int64_t kLarge = (std::int64_t{1} << 52) - 1;

// Rules at both ends of what they may be: times of microseconds and of years, numbers up to 2^52.
std::vector<Plan> rules_to_try() {
    std::vector<Plan> plans{
        plan("bucket", bucket(7, 3, 70us)),
        plan("slow", bucket(5, 7, 1h)),
        plan("wide", bucket(kLarge, 1, 1us)),
        plan("long", bucket(kLarge / 1'000'003, 999'983, 1'000'003us)),
        plan("fast", bucket(1'000, kLarge, 1us)),
        plan("window", aligned(6, 100us)),
        plan("first", from_first_hit(5, 80us)),
        plan("log", good(SlidingWindow::make(6, 90us))),
        plan("big_log", good(SlidingWindow::make(1'024, 7h))),
        plan("estimate", good(SlidingWindowEstimate::make(8, 100us))),
        plan("big_estimate", good(SlidingWindowEstimate::make(kLarge / 3'600'000'001, 3'600'000'001us))),
        plan("pause", good(Cooldown::make(20us, 5))),
        plan("long_pause", good(Cooldown::make(1h, 3))),
        plan("shadow", aligned(2, 100us), kShadow),
        plan("places", good(Concurrency::make(4, 90us))),
        plan("long_places", good(Concurrency::make(9, 3h))),
    };
    for (const auto& [name, unit] :
         {std::pair{"day", WindowKind::Day}, std::pair{"week", WindowKind::Week},
          std::pair{"month", WindowKind::Month}, std::pair{"year", WindowKind::Year}}) {
        plans.push_back(plan(name, calendar(5, unit)));
    }
    return plans;
}

// One key, as the rules see it.
struct History {
    Random random;
    std::string key;
    std::vector<ChainLink> known;
    Moment now;
    std::vector<const Plan*> asked{};
    std::vector<std::size_t> picked{};
    Tokens cost = 0;
    Verdict last{};
    bool forward = false;  // Only such have overrides: one that has ended may be forgotten, or not yet.

    // Mostly microseconds, sometimes years; one step in five goes back. Often exactly to where the answer may
    // change, or a microsecond before.
    void step() {
        const Wait to_edge = last.allowed ? last.reset_after : last.retry_after;
        if (random.below(3) == 0 && to_edge < kEdgeMax) {
            now = std::max(now, now + to_edge - Wait{static_cast<std::int64_t>(random.below(2))});
            return;
        }
        constexpr std::array<std::uint64_t, 4> kSteps{60, 10'000'000, 7'200'000'000, 40ULL * 86'400'000'000};
        const std::uint64_t size = random.below(3) != 0 ? kSteps[0] : kSteps.at(random.below(kSteps.size()));
        const auto by = static_cast<std::int64_t>(random.below(size));
        now = std::max(Moment{}, now + Wait{random.below(5) == 0 && !forward ? -by : by});
    }
    void settle_all() {
        for (ChainLink& link : known) {
            settle(link, now);
        }
    }

    void choose() {
        picked.clear();
        asked.clear();
        for (std::size_t i = 0; i < known.size(); ++i) {
            if (random.below(8) == 0 || (i + 1 == known.size() && picked.empty())) {
                picked.push_back(i);
                asked.push_back(known[i].plan);
            }
        }
        cost = static_cast<Tokens>(random.below(3));
        if (picked.size() == 1 && random.below(2) == 0) {
            const auto& instead = known[picked[0]].instead;
            const Tokens limit = instead ? Plan::make("instead", *instead->rule)->limit() : asked[0]->limit();
            cost = limit - static_cast<Tokens>(random.below(static_cast<std::uint64_t>(limit)));
        }
    }
};

bool release_from(ChainLink& link, const Ask& ask) {
    const auto* rule = std::get_if<Concurrency>(link.instead ? link.instead->rule : &link.plan->rule());
    return rule != nullptr &&
           rule->release(std::get<Concurrency::State>(link.instead ? link.instead->state : link.state), ask);
}

class RedisScriptDifferential : public testing::Test {
protected:
    void SetUp() override {
        SLUICE_NEEDS_REDIS("SLUICE_TEST_REDIS");
        const std::string address = redis_address("SLUICE_TEST_REDIS");
        flush(address);
        store_ = open_limits(patient(address), clock_);
    }

    // One check of each history, all in one batch.
    void take_all(std::vector<History>& histories) {
        std::vector<Moment> times;
        std::vector<Check> checks;
        for (History& each : histories) {
            each.step();
            each.settle_all();
            each.choose();
            times.push_back(each.now);
            checks.push_back({each.key, each.asked, each.cost});
        }
        clock_.set(std::move(times));
        std::vector<CheckOutcome> outcomes(checks.size(), Verdict{});
        store_->take(checks, outcomes);
        for (std::size_t i = 0; i < histories.size(); ++i) {
            ASSERT_TRUE(outcomes[i]) << histories[i].key;
            compare(histories[i], *outcomes[i]);
        }
    }

    static void compare(History& history, const Verdict& verdict) {
        std::vector<ChainLink> links;
        for (const std::size_t i : history.picked) {
            links.push_back(history.known[i]);
        }
        // Which number a lease gets is the store's affair.
        ASSERT_EQ(verdict, decide_chain(links, {history.now, history.cost, verdict.lease}))
            << history.key << " at " << microseconds_of(history.now) << ", first of the plans "
            << history.asked[0]->name() << ", spoke " << history.asked[verdict.plan]->name() << ", cost "
            << history.cost << ", remaining " << verdict.remaining << ", retry "
            << verdict.retry_after.count();
        for (std::size_t i = 0; i < links.size(); ++i) {
            history.known[history.picked[i]] = links[i];
        }
        history.last = verdict;
    }

    // Now and then something is given back.
    void give_back(History& history) {
        ChainLink& link = history.known[history.random.below(history.known.size())];
        history.step();
        history.settle_all();
        clock_.set({history.now});
        if (history.random.below(2) == 0) {
            const Ask back{history.now, static_cast<Tokens>(history.random.below(3))};
            ASSERT_TRUE(store_->refund({history.key, {&link.plan, 1}, back.cost}));
            refund_to(link, back);
        } else {
            const auto released = store_->release(history.key, *link.plan, history.last.lease);
            ASSERT_EQ(released.value(), release_from(link, {history.now, 0, history.last.lease}));
        }
    }

    void override_one(History& history, std::span<const Plan> plans) {
        if (!history.forward) {
            return;
        }
        ChainLink& link = history.known[history.random.below(history.known.size())];
        const auto drawn = draw_override(history.random, plans);
        clock_.set({history.now});
        ASSERT_EQ(store_->put_override(history.key, *link.plan, {*drawn.first, drawn.second}).value(),
                  history.now + drawn.second);
        put_override(link, drawn, history.now);
    }

    QueuedClock clock_;
    std::unique_ptr<LimitStore> store_;
};

TEST_F(RedisScriptDifferential, DecidesLikeCoreOnTenThousandHistories) {
    constexpr std::uint64_t kHistories = 10'000;
    constexpr std::uint64_t kTogether = 250;
    const std::vector<Plan> plans = rules_to_try();
    for (std::uint64_t first = 1; first <= kHistories && !HasFailure(); first += kTogether) {
        SCOPED_TRACE("seeds from " + std::to_string(first));
        std::vector<History> histories;
        for (std::uint64_t seed = first; seed < first + kTogether; ++seed) {
            histories.push_back({Random{seed}, "s" + std::to_string(seed), {}, kMidnight});
            histories.back().forward = seed % 2 == 0;
            for (const Plan& each : plans) {
                histories.back().known.push_back({&each, each.fresh()});
            }
        }
        for (int turn = 0; turn < 24 && !HasFailure(); ++turn) {
            take_all(histories);
            give_back(histories[histories[0].random.below(kTogether)]);
            for (int i = 0; i < 8; ++i) {
                override_one(histories[histories[0].random.below(kTogether)], plans);
            }
        }
    }
}

}  // namespace
}  // namespace sluice::test
