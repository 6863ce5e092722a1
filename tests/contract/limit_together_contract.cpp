// Checks over several keys that are decided as one.
#include <array>
#include <map>
#include <thread>

#include "base/random.hpp"
#include "contract/limit_store_contract.hpp"

namespace sluice::test {
namespace {

const Plan kGold = plan("gold", bucket(10, 1, 1s));
const Plan kDaily = plan("daily", calendar(20, WindowKind::Day));
const Plan kStrict = plan("strict", aligned(3, 1min));
const Plan kPlaces = plan("places", good(Concurrency::make(2, 1min)));

TEST_P(LimitStoreContract, TogetherChargesEveryKeyItsOwnCost) {
    const Verdict verdict =
        together({{"user", {&kGold}, 2}, {"team", {&kGold, &kDaily}, 5}, {"all", {&kDaily}}});

    EXPECT_TRUE(verdict.allowed);
    EXPECT_EQ(left(near("user"), kGold), 8);
    EXPECT_EQ(left(near("team"), kGold), 5);
    EXPECT_EQ(left(near("team"), kDaily), 15);
    EXPECT_EQ(left(near("all"), kDaily), 19);
}

TEST_P(LimitStoreContract, TogetherChargesNothingWhenTheThirdCheckDenies) {
    take(near("all"), {&kStrict}, 3);

    const Verdict verdict =
        together({{"user", {&kGold}}, {"team", {&kGold, &kDaily}}, {"all", {&kDaily, &kStrict}}});

    EXPECT_FALSE(verdict.allowed);
    EXPECT_EQ(verdict.retry_after, 1min);
    EXPECT_EQ(left(near("user"), kGold), 10);
    EXPECT_EQ(left(near("team"), kGold), 10);
    EXPECT_EQ(left(near("team"), kDaily), 20);
    EXPECT_EQ(left(near("all"), kDaily), 20);
}

TEST_P(LimitStoreContract, TogetherCountsThroughThePlansOfAllChecksToNameOne) {
    take(near("all"), {&kStrict}, 2);
    const std::vector<Part> parts{
        {"user", {&kGold}}, {"team", {&kGold, &kDaily}}, {"all", {&kDaily, &kStrict}}};

    const Verdict tightest = together(parts);
    const Verdict denied = together(parts);

    EXPECT_TRUE(tightest.allowed);
    EXPECT_EQ(tightest.plan, 4U);
    EXPECT_EQ(tightest.limit, 3);
    EXPECT_EQ(tightest.remaining, 0);
    EXPECT_FALSE(denied.allowed);
    EXPECT_EQ(denied.plan, 4U);
}

TEST_P(LimitStoreContract, TogetherWaitsForTheKeyThatDeniesLongest) {
    take(near("user"), {&kGold}, 10);
    take(near("team"), {&kGold}, 8);
    const std::vector<Part> parts{{"user", {&kGold}, 2}, {"team", {&kGold}, 6}};

    const Verdict denied = together(parts);

    EXPECT_EQ(denied.plan, 1U);
    EXPECT_EQ(denied.retry_after, 4s);
    at(kMidnight + 4s - 1us);
    EXPECT_FALSE(together(parts).allowed);
    at(kMidnight + 4s);
    EXPECT_TRUE(together(parts).allowed);
}

TEST_P(LimitStoreContract, TogetherTakesOneCheckAsTakeDoes) {
    EXPECT_EQ(together({{"a", {&kGold, &kStrict}, 2}}), take(near("b"), {&kGold, &kStrict}, 2));
    EXPECT_EQ(together({{"a", {&kGold, &kStrict}, 2}}), take(near("b"), {&kGold, &kStrict}, 2));
}

TEST_P(LimitStoreContract, TogetherTakesAKeyTwiceUnderDifferentPlans) {
    EXPECT_TRUE(together({{"a", {&kGold}, 4}, {"b", {&kGold}}, {"a", {&kDaily}, 5}}).allowed);

    EXPECT_EQ(left(near("a"), kGold), 6);
    EXPECT_EQ(left(near("a"), kDaily), 15);
}

TEST_P(LimitStoreContract, TogetherRefusesBadChecksAndChargesNothing) {
    std::vector<Plan> many;
    for (std::size_t i = 0; i <= kPlansPerCheckMax; ++i) {
        many.push_back(plan("p" + std::to_string(i), bucket(10, 1, 1s)));
    }
    std::vector<Part> too_many;
    for (const Plan& each : many) {
        too_many.push_back({"a", {&each}});
    }

    EXPECT_EQ(fault_of({{"a", {&kGold}}, {"", {&kGold}}}), LimitFault::InvalidKey);
    EXPECT_EQ(fault_of({{"a", {&kGold}}, {std::string(kLimitKeyBytesMax + 1, 'x'), {&kGold}}}),
              LimitFault::InvalidKey);
    EXPECT_EQ(fault_of({{"a", {&kGold}}, {"b", {}}}), LimitFault::InvalidPlans);
    EXPECT_EQ(fault_of({{"a", {&kGold}}, {"b", {&kGold}}, {"a", {&kDaily, &kGold}}}),
              LimitFault::InvalidPlans);
    EXPECT_EQ(fault_of(too_many), LimitFault::InvalidPlans);
    EXPECT_EQ(fault_of({{"a", {&kGold}}, {"b", {&kGold}, -1}}), LimitFault::InvalidCost);
    EXPECT_EQ(fault_of({{"a", {&kGold}}, {"b", {&kDaily, &kStrict}, 4}}), LimitFault::InvalidCost);
    EXPECT_EQ(left(near("a"), kGold), 10);
    EXPECT_EQ(left(near("a"), many[0]), 10);

    too_many.pop_back();
    EXPECT_TRUE(together(too_many).allowed);
}

TEST_P(LimitStoreContract, TogetherPeeksAtAllKeysOrAtSomeOfThem) {
    take(near("a"), {&kStrict}, 3);

    EXPECT_FALSE(together({{"b", {&kGold}, 0}, {"a", {&kStrict}, 0}}).allowed);
    EXPECT_TRUE(together({{"b", {&kGold}, 0}, {"c", {&kGold}, 0}}).allowed);
    EXPECT_FALSE(together({{"b", {&kGold}, 4}, {"a", {&kStrict}, 0}}).allowed);
    EXPECT_EQ(left(near("b"), kGold), 10);
    EXPECT_TRUE(together({{"b", {&kGold}, 4}, {"c", {&kStrict}, 0}}).allowed);
    EXPECT_EQ(left(near("b"), kGold), 6);
    EXPECT_EQ(left(near("c"), kStrict), 3);
}

TEST_P(LimitStoreContract, TogetherGivesOneLeaseForThePlacesOfAllKeys) {
    const Verdict first = together({{"user", {&kGold, &kPlaces}}, {"team", {&kPlaces}}});
    const Verdict second = together({{"user", {&kPlaces}}, {"team", {&kPlaces}}});

    EXPECT_NE(first.lease, second.lease);
    EXPECT_FALSE(together({{"other", {&kPlaces}}, {"team", {&kPlaces}}}).allowed);
    EXPECT_EQ(left(near("other"), kPlaces), 2);
    EXPECT_TRUE(store().release(near("user"), kPlaces, first.lease).value());
    EXPECT_TRUE(store().release(near("team"), kPlaces, first.lease).value());
    EXPECT_FALSE(store().release(near("team"), kPlaces, first.lease).value());
    EXPECT_TRUE(together({{"other", {&kPlaces}}, {"team", {&kPlaces}}}).allowed);
}

TEST_P(LimitStoreContract, TogetherGivesNoLeaseWhereNoPlaceWasTaken) {
    EXPECT_EQ(together({{"user", {&kGold}}, {"team", {&kPlaces}, 0}}).lease, LeaseId{});
    EXPECT_EQ(together({{"user", {&kGold}}, {"team", {&kGold}}}).lease, LeaseId{});
}

TEST_P(LimitStoreContract, TogetherGoesByTheOverrideOfEachKey) {
    ASSERT_TRUE(store().put_override(near("team"), kGold, {bucket(100, 1, 1h), kMidnight + 1min}));
    ASSERT_TRUE(store().put_override(near("small"), kGold, {bucket(2, 1, 1h), kMidnight + 1min}));

    EXPECT_TRUE(together({{"user", {&kGold}, 1}, {"team", {&kGold}, 60}}).allowed);
    EXPECT_EQ(fault_of({{"user", {&kGold}, 1}, {"small", {&kGold}, 3}}), LimitFault::InvalidCost);

    EXPECT_EQ(left(near("user"), kGold), 9);
    EXPECT_EQ(left(near("team"), kGold), 40);
    EXPECT_EQ(left(near("small"), kGold), 2);
    at(kMidnight + 1min);
    EXPECT_EQ(left(near("team"), kGold), 10);
}

TEST_P(LimitStoreContract, TogetherLetsAPlanInShadowModePassForAllKeys) {
    const Plan trial = plan("trial", aligned(1, 1min), kShadow);
    take(near("a"), {&trial});

    const Verdict verdict = together({{"b", {&kGold}}, {"a", {&trial}}});

    EXPECT_TRUE(verdict.allowed && verdict.shadowed);
    EXPECT_EQ(verdict.plan, 1U);
    EXPECT_EQ(left(near("b"), kGold), 9);
}

// Each thread takes three of eight keys in an order of its own: with locks taken in that order, two of them
// would soon wait for each other.
TEST_P(LimitStoreContract, TogetherCountsExactlyWhileThreadsTakeTheSameKeysInEveryOrder) {
    constexpr std::size_t kKeys = 8;
    constexpr Tokens kLimit = 400;
    const Plan shared = plan("shared", bucket(kLimit, 1, 24h));
    const Plan beside = plan("beside", aligned(100 * kLimit, 24h));
    std::array<std::atomic<Tokens>, kKeys> taken{};
    std::atomic<int> denied{0};
    {
        std::vector<std::jthread> threads;
        for (std::uint64_t thread = 0; thread < 8; ++thread) {
            threads.emplace_back([&, thread] {
                Random random{thread + 1};
                for (int turn = 0; turn < 250; ++turn) {
                    std::array<std::size_t, kKeys> order{0, 1, 2, 3, 4, 5, 6, 7};
                    for (std::size_t i = 0; i < 3; ++i) {
                        std::swap(order[i], order[i + random.below(kKeys - i)]);
                    }
                    const Tokens cost = 1 + static_cast<Tokens>(random.below(2));
                    std::vector<Part> parts;
                    for (std::size_t i = 0; i < 3; ++i) {
                        parts.push_back({"key-" + std::to_string(order[i]), {&beside, &shared}, cost});
                    }
                    const CheckOutcome outcome = outcome_of(parts);
                    if (!outcome) {
                        ASSERT_EQ(outcome.error(), LimitFault::Contended);
                        continue;
                    }
                    denied += outcome->allowed ? 0 : 1;
                    for (std::size_t i = 0; i < 3 && outcome->allowed; ++i) {
                        taken[order[i]] += cost;
                    }
                }
            });
        }
    }

    EXPECT_GT(denied.load(), 0) << "the keys were never short of tokens";
    for (std::size_t i = 0; i < kKeys; ++i) {
        EXPECT_EQ(left(near("key-" + std::to_string(i)), shared), kLimit - taken[i].load()) << i;
        EXPECT_EQ(left(near("key-" + std::to_string(i)), beside), 100 * kLimit - taken[i].load()) << i;
    }
}

// What the rules say of one key under one plan.
class KnownLink {
public:
    explicit KnownLink(const Plan& plan) : plan_{&plan}, state_{plan.fresh()} {}

    PlanStanding look(const Ask& ask) {
        return std::visit(
            [&](const auto& rule) {
                using State = typename std::remove_cvref_t<decltype(rule)>::State;
                auto step = decide(rule, std::get<State>(state_), ask);
                next_ = std::move(step.next);
                return PlanStanding{plan_, step.standing};
            },
            plan_->rule());
    }
    // What the last look would have charged; after a denial or a peek that is nothing.
    void charge() { state_ = next_; }

private:
    const Plan* plan_;
    LimitState state_;
    LimitState next_;
};

// Some keys under some plans, each of them once, with costs from 0 to 2.
std::vector<Part> random_parts(Random& random, std::span<const std::string> keys,
                               std::span<const Plan> plans) {
    std::vector<Part> parts;
    for (const std::string& key : keys) {
        Part part{key, {}, static_cast<Tokens>(random.below(3))};
        for (const Plan& each : plans) {
            if (random.below(4) == 0) {
                part.plans.push_back(&each);
            }
        }
        if (!part.plans.empty()) {
            parts.insert(parts.begin() + static_cast<std::ptrdiff_t>(random.below(parts.size() + 1)), part);
        }
    }
    return parts;
}

TEST_P(LimitStoreContract, TogetherAgreesWithTheRulesOnRandomHistories) {
    const std::array plans{
        plan("bucket", bucket(7, 3, 70us)),
        plan("first", from_first_hit(5, 80us)),
        plan("log", good(SlidingWindow::make(6, 90us))),
        plan("estimate", good(SlidingWindowEstimate::make(8, 100us))),
        plan("shadow", aligned(2, 100us), kShadow),
    };
    const std::uint64_t histories = 1'000 / GetParam().round_trips;
    for (std::uint64_t seed = 1; seed <= histories && !HasFailure(); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Random random{seed};
        std::vector<std::string> keys;
        for (const char* each : {"user", "team", "all"}) {
            keys.push_back(each + std::to_string(seed));
        }
        std::map<std::pair<std::string, const Plan*>, KnownLink> known;
        Moment now = kMidnight + Wait{static_cast<std::int64_t>(seed) * 1'000};
        for (int turn = 0; turn < 20; ++turn) {
            now += Wait{static_cast<std::int64_t>(random.below(40)) - (random.below(5) == 0 ? 60 : 0)};
            at(now);
            const std::vector<Part> parts = random_parts(random, keys, plans);
            if (parts.empty()) {
                continue;
            }
            std::vector<KnownLink*> links;
            std::vector<PlanStanding> standings;
            for (const Part& part : parts) {
                for (const Plan* each : part.plans) {
                    auto found = known.try_emplace({part.key, each}, *each).first;
                    links.push_back(&found->second);
                    standings.push_back(found->second.look({now, part.cost}));
                }
            }
            const Verdict expected = judge(standings);
            ASSERT_EQ(together(parts), expected) << "turn " << turn;
            for (KnownLink* link : links) {
                if (expected.allowed) {
                    link->charge();
                }
            }
        }
    }
}

}  // namespace
}  // namespace sluice::test
