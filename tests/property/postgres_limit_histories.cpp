#include <map>

#include <gtest/gtest.h>

#include "base/random.hpp"
#include "support/chain_links.hpp"
#include "support/limit_words.hpp"
#include "support/postgres_limits.hpp"

// The functions in SQL decide like the rules in core, check for check.
namespace sluice::test {
namespace {

constexpr int kRounds = 100;
constexpr int kHistories = 100;  // Of one round, side by side: each is one key, and they share a clock.
constexpr int kTurns = 12;

const std::array kPlans{
    plan("bucket", bucket(3, 1, 70us)),
    plan("window", aligned(3, 100us)),
    plan("first", from_first_hit(3, 80us)),
    plan("log", good(SlidingWindow::make(3, 90us))),
    plan("estimate", good(SlidingWindowEstimate::make(3, 100us))),
    plan("pause", good(Cooldown::make(20us, 5))),
    plan("hourly", good(Cooldown::make(0us, 4))),
    plan("places", good(Concurrency::make(3, 120us))),
    plan("shadow", aligned(2, 100us), kShadow),
    plan("shadow-bucket", bucket(2, 1, 40us), kShadow),
    plan("day", calendar(3, WindowKind::Day)),
    plan("week", calendar(3, WindowKind::Week)),
    plan("month", calendar(4, WindowKind::Month)),
    plan("year", calendar(4, WindowKind::Year)),
};

// One key, as the rules see it.
struct History {
    std::string key;
    std::vector<ChainLink> known;

    explicit History(std::string name) : key{std::move(name)} {
        for (const Plan& each : kPlans) {
            known.push_back({&each, each.fresh()});
        }
    }
};

// What one history is asked in one turn.
struct Question {
    std::vector<std::size_t> picked;
    std::vector<const Plan*> plans;
    Tokens cost = 0;
};

Question draw_question(Random& random) {
    Question question;
    for (std::size_t i = 0; i < kPlans.size(); ++i) {
        if (random.below(6) == 0) {
            question.picked.push_back(i);
        }
    }
    if (question.picked.empty()) {
        question.picked.push_back(random.below(kPlans.size()));
    }
    for (const std::size_t i : question.picked) {
        question.plans.push_back(&kPlans[i]);
    }
    question.cost = static_cast<Tokens>(random.below(3));
    return question;
}

// By microseconds mostly; at times by hours or months, in one of five cases back, and now and then by what a
// check was told to wait, or a microsecond less: there a rule that is off by one shows.
Wait draw_step(Random& random, Wait told) {
    switch (random.below(20)) {
        case 0: return std::chrono::minutes{random.below(90)};
        case 1: return std::chrono::hours{random.below(2'000)};
        case 2: return -std::chrono::hours{random.below(100)};
        case 3:
        case 4:
        case 5: return -Wait{random.below(80)};
        case 6:
        case 7: return told;
        case 8: return told - 1us;
        default: return Wait{random.below(60)};
    }
}

class PostgresLimitHistories : public PostgresTest {
protected:
    PostgresLimitHistories() : PostgresTest{Furnished::WithSlots} {}
};

// Gives something back to some of the histories, or forgets one of their plans.
void disturb(LimitStore& store, std::vector<History>& histories, Random& random, Moment now) {
    for (int i = 0; i < 3; ++i) {
        History& history = histories[random.below(histories.size())];
        ChainLink& link = history.known[random.below(history.known.size())];
        if (i == 0 && random.below(2) == 0) {
            ASSERT_TRUE(store.reset(history.key, {&link.plan, 1}));
            reset(link);
        } else {
            const Ask back{now, static_cast<Tokens>(random.below(3))};
            ASSERT_TRUE(store.refund({history.key, {&link.plan, 1}, back.cost}));
            refund_to(link, back);
        }
    }
}

// Gives some of the histories another rule for one of their plans, until soon.
void override_some(LimitStore& store, std::vector<History>& histories, Random& random, Moment now) {
    for (int i = 0; i < 8; ++i) {
        History& history = histories[random.below(histories.size())];
        ChainLink& link = history.known[random.below(history.known.size())];
        const auto drawn = draw_override(random, kPlans);
        ASSERT_EQ(store.put_override(history.key, *link.plan, {*drawn.first, drawn.second}).value(),
                  now + drawn.second);
        put_override(link, drawn, now);
    }
}

// What the rules say to the question, and what is remembered after it. The store's choice of a lease is taken
// over: it is a name, not a decision.
Verdict expected(History& history, const Question& question, Moment now, LeaseId lease) {
    std::vector<ChainLink> links;
    for (const std::size_t i : question.picked) {
        links.push_back(history.known[i]);
    }
    const Verdict verdict = decide_chain(links, {now, question.cost, lease});
    for (std::size_t i = 0; i < links.size(); ++i) {
        history.known[question.picked[i]] = links[i];
    }
    return verdict;
}

TEST_F(PostgresLimitHistories, AgreeWithTheRulesDecisionForDecision) {
    const auto clock = connect();
    PostgresLimitsOn store{dsn()};
    std::map<std::string, int> spoke;  // How often each plan denied.
    for (std::uint64_t round = 1; round <= kRounds && !HasFailure(); ++round) {
        SCOPED_TRACE("seed " + std::to_string(round));
        Random random{round};
        std::vector<History> histories;
        for (int i = 0; i < kHistories; ++i) {
            histories.emplace_back(std::to_string(round) + ":" + std::to_string(i));
        }
        Moment now = kMidnight + Wait{static_cast<std::int64_t>(random.below(1'000'000'000'000))};
        Wait told{1};
        for (int turn = 0; turn < kTurns && !HasFailure(); ++turn) {
            // With overrides only forward: one that has ended may be forgotten, or not yet.
            const bool overriding = round % 2 == 0;
            const Wait step = draw_step(random, told);
            now += overriding ? std::max(step, Wait{0}) : step;
            set_limit_clock(*clock, now);
            for (History& history : histories) {
                for (ChainLink& link : history.known) {
                    settle(link, now);
                }
            }
            if (overriding) {
                override_some(*store, histories, random, now);
            }
            disturb(*store, histories, random, now);
            std::vector<Question> questions;
            std::vector<Check> checks;
            questions.reserve(histories.size());
            for (const History& history : histories) {
                questions.push_back(draw_question(random));
                checks.push_back({history.key, questions.back().plans, questions.back().cost});
            }
            std::vector<CheckOutcome> outcomes(checks.size(), Verdict{});

            store->take(checks, outcomes);

            for (std::size_t i = 0; i < outcomes.size(); ++i) {
                ASSERT_TRUE(outcomes[i]) << "turn " << turn << " key " << histories[i].key;
                const Verdict said = *outcomes[i];
                ASSERT_EQ(said, expected(histories[i], questions[i], now, said.lease))
                    << "turn " << turn << " key " << histories[i].key;
                if (!said.allowed || said.shadowed) {
                    ++spoke[questions[i].plans[said.plan]->name()];
                    told = said.retry_after;
                }
            }
        }
    }
    for (const Plan& each : kPlans) {  // A history in which a plan never denies says little about it.
        EXPECT_GT(spoke[each.name()], 100) << each.name();
    }
}

}  // namespace
}  // namespace sluice::test
