#include <array>
#include <limits>
#include <set>
#include <thread>

#include "base/random.hpp"
#include "contract/limit_store_contract.hpp"
#include "support/chain_links.hpp"

namespace sluice::test {
namespace {

const Plan kGold = plan("gold", bucket(10, 1, 1s));
const Plan kDaily = plan("daily", calendar(20, WindowKind::Day));
const Plan kStrict = plan("strict", aligned(3, 1min));
const Plan kPlaces = plan("places", good(Concurrency::make(2, 1min)));

TEST_P(LimitStoreContract, KeepsKeysAndPlansApart) {
    take("a", {&kGold}, 4);

    EXPECT_EQ(left("a", kGold), 6);
    EXPECT_EQ(left("b", kGold), 10);
    EXPECT_EQ(left("a", kDaily), 20);
}

TEST_P(LimitStoreContract, KeepsPlanAndKeyApartWhateverTheyHold) {
    const Plan one = plan("a:b", bucket(10, 1, 1s));
    const Plan other = plan("a", bucket(10, 1, 1s));

    take("c", {&one}, 10);

    EXPECT_EQ(left("b:c", other), 10);
}

TEST_P(LimitStoreContract, TakesKeysAsOpaqueBytes) {
    const std::string zero{"a\0b", 3};
    const std::string longest(kLimitKeyBytesMax, 'x');
    for (const std::string& key :
         {std::string{"{a}"}, std::string{"'; DROP"}, zero, std::string{"%7B\r\n"}, longest}) {
        EXPECT_EQ(take(key, {&kGold}, 3).remaining, 7);
        EXPECT_EQ(take(key, {&kGold}, 3).remaining, 4);
    }
    EXPECT_EQ(left("a", kGold), 10);
    EXPECT_EQ(left(longest.substr(1), kGold), 10);
}

TEST_P(LimitStoreContract, DeniesUntilExactlyTheMomentItSays) {
    take("a", {&kGold}, 10);

    const Verdict denied = take("a", {&kGold});
    EXPECT_EQ(denied.retry_after, 1s);
    at(kMidnight + 999'999us);
    EXPECT_FALSE(take("a", {&kGold}).allowed);
    at(kMidnight + 1s);
    EXPECT_TRUE(take("a", {&kGold}).allowed);
}

TEST_P(LimitStoreContract, ChargesNoPlanWhenTheThirdDenies) {
    take("a", {&kStrict}, 3);

    const Verdict verdict = take("a", {&kGold, &kDaily, &kStrict});

    EXPECT_FALSE(verdict.allowed);
    EXPECT_EQ(verdict.plan, 2U);
    EXPECT_EQ(left("a", kGold), 10);
    EXPECT_EQ(left("a", kDaily), 20);
}

TEST_P(LimitStoreContract, AClockThatStepsBackAdmitsNothing) {
    take("a", {&kGold}, 10);
    take("a", {&kStrict}, 3);

    at(kMidnight - 1h);

    EXPECT_EQ(take("a", {&kGold}).retry_after, 1h + 1s);
    EXPECT_EQ(take("a", {&kStrict}).retry_after, 1h + 1min);
}

TEST_P(LimitStoreContract, RefusesBadChecksAndChargesNothing) {
    const std::vector<const Plan*> many(kPlansPerCheckMax + 1, &kGold);

    EXPECT_EQ(fault("", {&kGold}), LimitFault::InvalidKey);
    EXPECT_EQ(fault(std::string(kLimitKeyBytesMax + 1, 'x'), {&kGold}), LimitFault::InvalidKey);
    EXPECT_EQ(fault("a", {}), LimitFault::InvalidPlans);
    EXPECT_EQ(fault("a", {&kGold, &kDaily, &kGold}), LimitFault::InvalidPlans);
    EXPECT_EQ(fault("a", many), LimitFault::InvalidPlans);
    EXPECT_EQ(fault("a", {&kGold}, -1), LimitFault::InvalidCost);
    EXPECT_EQ(fault("a", {&kGold}, 11), LimitFault::InvalidCost);
    EXPECT_EQ(fault("a", {&kDaily, &kGold}, 11), LimitFault::InvalidCost);
    take("a", {&kGold});
    EXPECT_EQ(fault("a", {&kGold}, 11), LimitFault::InvalidCost);
    EXPECT_EQ(left("a", kGold), 9);
    EXPECT_EQ(left("a", kDaily), 20);
}

TEST_P(LimitStoreContract, DecidesABatchInItsOrderEachCheckForItself) {
    const std::array plans{&kStrict};
    std::vector<Check> checks(50, Check{"a", plans, 1});
    checks[1] = Check{"", plans, 1};
    checks[2] = Check{"b", plans, 3};
    std::vector<CheckOutcome> outcomes(checks.size(), Verdict{});

    store().take(checks, outcomes);

    EXPECT_TRUE(outcomes[0]->allowed);
    EXPECT_EQ(outcomes[1].error(), LimitFault::InvalidKey);
    EXPECT_TRUE(outcomes[2]->allowed);
    EXPECT_TRUE(outcomes[3]->allowed && outcomes[4]->allowed);
    for (std::size_t i = 5; i < outcomes.size(); ++i) {
        EXPECT_FALSE(outcomes[i]->allowed);
    }
}

TEST_P(LimitStoreContract, GivesBackWhatARefundNames) {
    take("a", {&kGold, &kDaily}, 6);

    const std::array plans{&kGold, &kDaily};
    EXPECT_TRUE(store().refund({"a", plans, 4}));
    EXPECT_TRUE(store().refund({"unknown", plans, 4}));

    EXPECT_EQ(left("a", kGold), 8);
    EXPECT_EQ(left("a", kDaily), 18);
    EXPECT_EQ(left("unknown", kGold), 10);
}

TEST_P(LimitStoreContract, RefusesBadRefundsAndGivesNothingBack) {
    take("a", {&kGold}, 6);

    const std::array plans{&kGold};
    EXPECT_EQ(store().refund({"a", plans, -1}).error(), LimitFault::InvalidCost);
    EXPECT_EQ(store().refund({"a", plans, 11}).error(), LimitFault::InvalidCost);
    EXPECT_EQ(store().refund({"a", plans, std::numeric_limits<Tokens>::max()}).error(),
              LimitFault::InvalidCost);
    EXPECT_EQ(store().refund({"", plans, 1}).error(), LimitFault::InvalidKey);
    EXPECT_EQ(store().refund({"a", {}, 1}).error(), LimitFault::InvalidPlans);

    EXPECT_EQ(left("a", kGold), 4);
}

TEST_P(LimitStoreContract, GivesBackToAllPlansOfACheckOrToNone) {
    take("a", {&kGold}, 6);
    take("a", {&kPlaces}, 2);
    const std::array plans{&kGold, &kPlaces};

    EXPECT_EQ(store().refund({"a", plans, 3}).error(), LimitFault::InvalidCost);

    EXPECT_EQ(left("a", kGold), 4);
    EXPECT_EQ(left("a", kPlaces), 0);
}

TEST_P(LimitStoreContract, ForgetsOnReset) {
    take("a", {&kGold, &kDaily, &kPlaces}, 2);

    const std::array plans{&kGold, &kPlaces};
    EXPECT_TRUE(store().reset("a", plans));
    EXPECT_TRUE(store().reset("unknown", plans));

    EXPECT_EQ(left("a", kGold), 10);
    EXPECT_EQ(left("a", kPlaces), 2);
    EXPECT_EQ(left("a", kDaily), 18);
}

TEST_P(LimitStoreContract, ShowsHowAKeyStandsAndChargesNothing) {
    take("a", {&kGold}, 10);

    const std::array plans{&kGold, &kStrict};
    const auto standings = store().inspect("a", plans);

    ASSERT_TRUE(standings);
    EXPECT_THAT(*standings, testing::ElementsAre(Inspection{{false, 10, 0, 1s, 10s}, std::nullopt},
                                                 Inspection{{true, 3, 3, 0us, 0us}, std::nullopt}));
}

TEST_P(LimitStoreContract, GivesEachHolderALeaseToRelease) {
    const Verdict first = take("a", {&kPlaces});
    const Verdict second = take("a", {&kPlaces});

    EXPECT_NE(first.lease, second.lease);
    EXPECT_FALSE(take("a", {&kPlaces}).allowed);
    EXPECT_TRUE(store().release("a", kPlaces, first.lease).value());
    EXPECT_FALSE(store().release("a", kPlaces, first.lease).value());
    EXPECT_FALSE(store().release("b", kPlaces, second.lease).value());
    EXPECT_TRUE(take("a", {&kPlaces}).allowed);
}

TEST_P(LimitStoreContract, ReleasingALeaseThatNobodyHoldsChangesNothing) {
    take("a", {&kPlaces}, 2);

    for (const std::uint64_t unknown :
         {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{2}, ~std::uint64_t{0}}) {
        EXPECT_FALSE(store().release("a", kPlaces, LeaseId{unknown}).value()) << unknown;
    }

    EXPECT_FALSE(take("a", {&kPlaces}).allowed);
}

// As after a restart, a FLUSHALL or a DROP: what a store gave before it forgot everything means nothing now.
TEST_P(LimitStoreContract, GivesNoLeaseThatItGaveInAnEarlierLife) {
    std::set<LeaseId> given;
    for (int life = 0; life < 2; ++life) {
        world_ = GetParam().make();
        at(kMidnight);
        for (int i = 0; i < 20; ++i) {
            const LeaseId lease = take("a" + std::to_string(i), {&kPlaces}).lease;
            EXPECT_LT(static_cast<std::uint64_t>(lease), std::uint64_t{kExactMax});
            EXPECT_TRUE(given.insert(lease).second);
        }
    }
}

TEST_P(LimitStoreContract, GivesALeaseAlsoBesideAPlanInShadowModeThatDenies) {
    const Plan trial = plan("trial", aligned(1, 1min), kShadow);
    take("a", {&trial});

    const Verdict verdict = take("a", {&kPlaces, &trial}, 1);

    EXPECT_TRUE(verdict.allowed && verdict.shadowed);
    EXPECT_TRUE(store().release("a", kPlaces, verdict.lease).value());
}

TEST_P(LimitStoreContract, GivesEachHolderALeaseOfAnOverride) {
    ASSERT_TRUE(store().put_override("a", kGold, {good(Concurrency::make(2, 1min)), kMidnight + 1h}));

    const Verdict first = take("a", {&kGold});
    const Verdict second = take("a", {&kGold});

    EXPECT_NE(first.lease, second.lease);
    EXPECT_TRUE(store().release("a", kGold, second.lease).value());
    EXPECT_FALSE(store().release("a", kGold, second.lease).value());
}

TEST_P(LimitStoreContract, LetsALeaseExpire) {
    take("a", {&kPlaces}, 2);
    EXPECT_EQ(take("a", {&kPlaces}).retry_after, 1min);

    at(kMidnight + 1min);

    EXPECT_TRUE(take("a", {&kPlaces}).allowed);
}

TEST_P(LimitStoreContract, AnOverrideCountsByItselfUntilItExpires) {
    take("a", {&kGold}, 10);

    ASSERT_TRUE(store().put_override("a", kGold, {bucket(100, 1, 1h), kMidnight + 1min}));

    EXPECT_EQ(take("a", {&kGold}, 60).remaining, 40);
    EXPECT_EQ(take("a", {&kGold}).remaining, 39) << "the plan itself could be asked for as much";
    EXPECT_EQ(left("b", kGold), 10);
    at(kMidnight + 1min);
    EXPECT_EQ(fault("a", {&kGold}, 60), LimitFault::InvalidCost);
    EXPECT_EQ(left("a", kGold), 10);
}

TEST_P(LimitStoreContract, EveryOverrideBeginsFresh) {
    ASSERT_TRUE(store().put_override("a", kGold, {bucket(100, 1, 1h), kMidnight + 1min}));
    take("a", {&kGold}, 100);

    ASSERT_TRUE(store().put_override("a", kGold, {bucket(50, 1, 1h), kMidnight + 1min}));

    EXPECT_EQ(left("a", kGold), 50);
}

TEST_P(LimitStoreContract, AResetForgetsWhatAnOverrideCountedAndKeepsTheOverride) {
    take("a", {&kGold}, 4);
    ASSERT_TRUE(store().put_override("a", kGold, {bucket(100, 1, 1h), kMidnight + 1min}));
    take("a", {&kGold}, 60);
    const std::array plans{&kGold};

    ASSERT_TRUE(store().reset("a", plans));

    EXPECT_EQ(left("a", kGold), 100);
    at(kMidnight + 1min);
    EXPECT_EQ(left("a", kGold), 10);
}

TEST_P(LimitStoreContract, AnOverrideThatHasExpiredTakesTheEarlierOneAway) {
    ASSERT_TRUE(store().put_override("a", kGold, {bucket(100, 1, 1h), kMidnight + 1min}));

    ASSERT_TRUE(store().put_override("a", kGold, {bucket(100, 1, 1h), kMidnight}));

    EXPECT_EQ(take("a", {&kGold}).limit, 10);
}

TEST_P(LimitStoreContract, AnOverrideEndsByTheStoresClock) {
    at(kMidnight + 1h);

    EXPECT_EQ(store().put_override("a", kGold, {bucket(100, 1, 1h), Wait{10s}}).value(),
              kMidnight + 1h + 10s);

    at(kMidnight + 1h + 10s - 1us);
    EXPECT_EQ(left("a", kGold), 100);
    at(kMidnight + 1h + 10s);
    EXPECT_EQ(left("a", kGold), 10);
    EXPECT_TRUE(store().put_override("a", kGold, {bucket(100, 1, 1h), Wait::max()}));
    EXPECT_EQ(left("a", kGold), 100);
}

TEST_P(LimitStoreContract, ShowsWhenAnOverrideEnds) {
    ASSERT_TRUE(store().put_override("a", kGold, {bucket(100, 1, 1h), Wait{10s}}));
    const std::array plans{&kStrict, &kGold};
    const auto ends = [&] { return store().inspect("a", plans).value(); };

    EXPECT_EQ(ends().front().override_until, std::nullopt);
    EXPECT_EQ(ends().back().override_until, kMidnight + 10s);
    EXPECT_EQ(ends().back().limit, 100);
    at(kMidnight + 10s);
    EXPECT_EQ(ends().back().override_until, std::nullopt);
}

TEST_P(LimitStoreContract, AWaitEndsWithTheOverrideThatWouldDenyForLonger) {
    ASSERT_TRUE(store().put_override("a", kGold, {bucket(1, 1, 24h), Wait{10s}}));
    take("a", {&kGold});

    EXPECT_EQ(take("a", {&kGold}).retry_after, 10s);

    const std::array plans{&kGold};
    EXPECT_EQ(store().inspect("a", plans)->front().retry_after, 10s);
    at(kMidnight + 10s - 1us);
    EXPECT_FALSE(take("a", {&kGold}).allowed);
    at(kMidnight + 10s);
    EXPECT_TRUE(take("a", {&kGold}).allowed);
}

TEST_P(LimitStoreContract, AWaitOutlastsTheOverrideWhereThePlanItselfWouldDeny) {
    take("a", {&kStrict}, 3);
    ASSERT_TRUE(store().put_override("a", kStrict, {bucket(1, 1, 20s), Wait{10s}}));
    EXPECT_TRUE(take("a", {&kStrict}).allowed);

    EXPECT_EQ(take("a", {&kStrict}).retry_after, 1min);
}

// The override of one plan passes now, and ends before the other plan would.
TEST_P(LimitStoreContract, AWaitHeedsOverridesOfPlansThatDoNotDeny) {
    take("a", {&kGold}, 10);
    take("a", {&kStrict}, 3);
    ASSERT_TRUE(store().put_override("a", kStrict, {bucket(100, 1, 1s), Wait{1s}}));

    const Verdict denied = take("a", {&kGold, &kStrict}, 2);

    EXPECT_EQ(denied.plan, 0U);
    EXPECT_EQ(denied.retry_after, 1min);
}

TEST_P(LimitStoreContract, ACheckThatOnlyTheOverrideCouldAllowWaitsForItsEnd) {
    ASSERT_TRUE(store().put_override("a", kGold, {bucket(100, 1, 1h), Wait{1min}}));
    take("a", {&kGold}, 100);

    EXPECT_EQ(take("a", {&kGold}, 60).retry_after, 1min);

    at(kMidnight + 1min);
    EXPECT_EQ(fault("a", {&kGold}, 60), LimitFault::InvalidCost);
}

// As two nodes that disagree, or a rolling change: at most one limit of each.
TEST_P(LimitStoreContract, PlansOfOneNameAndDifferentAlgorithmsCountApart) {
    const std::array<Plan, 6> changed{
        kGold,
        plan("gold", aligned(2, 1h)),
        plan("gold", good(SlidingWindow::make(2, 1h))),
        plan("gold", good(SlidingWindowEstimate::make(2, 1h))),
        plan("gold", good(Cooldown::make(0us, 2))),
        plan("gold", good(Concurrency::make(2, 1h))),
    };
    for (const Plan& each : changed) {
        take("a", {&each}, each.limit());
    }

    for (const Plan& each : changed) {
        EXPECT_FALSE(take("a", {&each}).allowed) << each.algorithm();
    }

    const std::array gold{&kGold};
    ASSERT_TRUE(store().refund({"a", gold, 1}));
    EXPECT_EQ(left("a", kGold), 1);
    EXPECT_EQ(left("a", changed[1]), 0);
    ASSERT_TRUE(store().reset("a", gold));
    for (const Plan& each : changed) {
        EXPECT_EQ(left("a", each), each.limit()) << each.algorithm();
    }
}

TEST_P(LimitStoreContract, AdmitsExactlyWhatIsLeftToManyThreads) {
    constexpr int kThreads = 64;
    constexpr Tokens kLeft = 1'000;
    const Plan shared = plan("shared", bucket(kLeft, 1, 1h));
    const Plan beside = plan("beside", aligned(10 * kLeft, 1h));
    std::atomic<Tokens> admitted{0};
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < kThreads; ++i) {
            threads.emplace_back([&] {
                for (int turn = 0; turn < 50; ++turn) {
                    admitted += take("hot", {&shared}).allowed ? 1 : 0;
                    admitted += take("hot", {&beside, &shared}).allowed ? 1 : 0;
                }
            });
        }
    }

    EXPECT_EQ(admitted.load(), kLeft);
    EXPECT_EQ(left("hot", shared), 0);
}

// Every store decides like the rules, whatever came before: histories over some keys, chains of plans of
// every algorithm, refunds, resets, and a clock that steps. Where keys have overrides it steps forward only:
// an override that has ended may be forgotten, or not yet.
TEST_P(LimitStoreContract, AgreesWithTheRulesOnRandomHistories) {
    const std::array plans{
        plan("bucket", bucket(7, 3, 70us)),
        plan("window", aligned(6, 100us)),
        plan("first", from_first_hit(5, 80us)),
        plan("log", good(SlidingWindow::make(6, 90us))),
        plan("estimate", good(SlidingWindowEstimate::make(8, 100us))),
        plan("pause", good(Cooldown::make(20us, 5))),
        plan("shadow", aligned(2, 100us), kShadow),
    };
    for (std::uint64_t seed = 1; seed <= 10'000 / GetParam().round_trips && !HasFailure(); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Random random{seed};
        const std::string key = "k" + std::to_string(seed);
        std::vector<ChainLink> known;
        for (const Plan& each : plans) {
            known.push_back({&each, each.fresh()});
        }
        Moment now = kMidnight + Wait{static_cast<std::int64_t>(seed) * 1'000};
        for (int turn = 0; turn < 20; ++turn) {
            const bool back_in_time = random.below(5) == 0 && seed % 2 == 0;
            now += Wait{static_cast<std::int64_t>(random.below(60)) - (back_in_time ? 80 : 0)};
            at(now);
            for (ChainLink& link : known) {
                settle(link, now);
            }
            if (seed % 2 != 0 && random.below(3) == 0) {
                ChainLink& link = known[random.below(known.size())];
                const auto drawn = draw_override(random, plans);
                ASSERT_TRUE(store().put_override(key, *link.plan, {*drawn.first, drawn.second}));
                put_override(link, drawn, now);
            }
            if (random.below(8) == 0) {
                ChainLink& link = known[random.below(known.size())];
                const Ask back{now, static_cast<Tokens>(random.below(3))};
                ASSERT_TRUE(store().refund({key, {&link.plan, 1}, back.cost}));
                refund_to(link, back);
            }
            if (random.below(16) == 0) {
                ChainLink& link = known[random.below(known.size())];
                ASSERT_TRUE(store().reset(key, {&link.plan, 1}));
                reset(link);
            }
            std::vector<std::size_t> picked;
            for (std::size_t i = 0; i < known.size(); ++i) {
                if (random.below(3) == 0) {
                    picked.push_back(i);
                }
            }
            if (picked.empty()) {
                picked.push_back(random.below(known.size()));
            }
            Plans asked;
            std::vector<ChainLink> links;
            for (const std::size_t i : picked) {
                asked.push_back(known[i].plan);
                links.push_back(known[i]);
            }
            const Ask ask{now, static_cast<Tokens>(random.below(3))};
            ASSERT_EQ(take(key, asked, ask.cost), decide_chain(links, ask)) << "turn " << turn;
            for (std::size_t i = 0; i < picked.size(); ++i) {
                known[picked[i]] = links[i];
            }
        }
    }
}

}  // namespace
}  // namespace sluice::test
