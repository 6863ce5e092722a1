#include "contract/slot_store_contract.hpp"

namespace sluice::test {
namespace {

using testing::ElementsAre;

TEST_P(SlotStoreContract, MakesAConfigWithItsFirstVersion) {
    const ConfigVersion version = put(looking_ahead(7, sharing("p", draft("a", 50, 4s))));

    EXPECT_EQ(version.terms.name, config("a"));
    EXPECT_EQ(version.terms.max_per_window, 50U);
    EXPECT_EQ(version.terms.window_size, 4s);
    EXPECT_EQ(version.terms.pool, pool("p"));
    EXPECT_EQ(version.terms.max_lookahead, 7);
    EXPECT_EQ(version.effective_from, around_.clock.now());
    EXPECT_TRUE(version.active);
    EXPECT_EQ(store().active_config(config("a"))->id, version.id);
}

TEST_P(SlotStoreContract, KnowsNoConfigBeforeItIsMade) {
    EXPECT_EQ(store().active_config(config("a")).error().fault, SlotFault::UnknownConfig);
    EXPECT_EQ(store().config_history(config("a")).error().fault, SlotFault::UnknownConfig);
    EXPECT_EQ(store().windows(config("a"), {kNoon, kNoon + 1s}).error().fault, SlotFault::UnknownConfig);
    EXPECT_EQ(store().quote({std::nullopt, config("a"), SlotAsk{kNoon}}).error().fault,
              SlotFault::UnknownConfig);
}

TEST_P(SlotStoreContract, DeactivatesAVersionButNeverForgetsIt) {
    const ConfigVersion first = put(draft("a", 5, 1s));
    put(draft("other", 1, 1s));
    around_.clock.advance(1min);
    const ConfigVersion second = put(draft("a", 6, 1s));
    const ConfigVersion third = put(draft("a", 7, 1s));

    const auto history = store().config_history(config("a"));

    ASSERT_TRUE(history);
    ASSERT_EQ(history->size(), 3U);
    EXPECT_EQ(history->at(0).id, third.id);
    EXPECT_EQ(history->at(1).id, second.id);
    EXPECT_EQ(history->at(2).id, first.id);
    EXPECT_TRUE(history->at(0).active);
    EXPECT_FALSE(history->at(1).active);
    EXPECT_FALSE(history->at(2).active);
    EXPECT_EQ(history->at(2).terms.max_per_window, 5U);
    EXPECT_EQ(history->at(1).effective_from, first.effective_from + 1min);
    EXPECT_EQ(store().active_config(config("a"))->id, third.id);
    EXPECT_LT(first.id, second.id);
    EXPECT_LT(second.id, third.id);
}

TEST_P(SlotStoreContract, ListsTheActiveVersionOfEveryConfigByName) {
    ASSERT_TRUE(store().active_configs());
    EXPECT_TRUE(store().active_configs()->empty());
    put(draft("b", 5, 1s));
    put(draft("Z", 5, 1s));
    const ConfigVersion a = put(draft("a", 6, 1s));
    const ConfigVersion b = put(draft("b", 7, 1s));

    const auto listed = store().active_configs();

    ASSERT_TRUE(listed);
    ASSERT_EQ(listed->size(), 3U);
    EXPECT_EQ(listed->at(0).terms.name, config("Z"));
    EXPECT_EQ(listed->at(1).id, a.id);
    EXPECT_EQ(listed->at(2).id, b.id);
    EXPECT_EQ(listed->at(2).terms.max_per_window, 7U);
}

TEST_P(SlotStoreContract, RecordsTheVersionThatAssignedASlot) {
    const ConfigVersion first = put(draft("a", 5, 1s));
    const Slot before = take("x", "a", SlotAsk{kNoon});
    const ConfigVersion second = put(draft("a", 6, 1s));
    const Slot after = take("y", "a", SlotAsk{kNoon});

    EXPECT_EQ(before.config_id, first.id);
    EXPECT_EQ(after.config_id, second.id);
    EXPECT_EQ(take("x", "a", SlotAsk{kNoon}).config_id, first.id);
}

TEST_P(SlotStoreContract, OpensFullWindowsAtOnceWhenTheCapIsRaised) {
    put(draft("a", 1, 1s));
    take_many(100, "x", "a", SlotAsk{kNoon});

    put(draft("a", 3, 1s));

    EXPECT_EQ(take("y", "a", SlotAsk{kNoon}).window_start, kNoon);
    EXPECT_EQ(take("z", "a", SlotAsk{kNoon}).window_start, kNoon);
    EXPECT_EQ(take("w", "a", SlotAsk{kNoon}).window_start, kNoon + 1s);
}

TEST_P(SlotStoreContract, MovesNothingWhenTheCapIsLowered) {
    put(draft("a", 3, 1s));
    const auto slots = take_many(5, "x", "a", SlotAsk{kNoon});

    put(draft("a", 2, 1s));

    EXPECT_THAT(counts("a", kNoon, 3), ElementsAre(3, 2, 0));
    EXPECT_EQ(take("x0", "a", SlotAsk{kNoon}), slots[0]);
    EXPECT_EQ(take("y", "a", SlotAsk{kNoon}).window_start, kNoon + 2s);
    ASSERT_TRUE(run(CancelSlot{event("x0")}));
    EXPECT_EQ(take("z", "a", SlotAsk{kNoon}).window_start, kNoon + 2s) << "two of three are still there";
    ASSERT_TRUE(run(CancelSlot{event("x1")}));
    EXPECT_EQ(take("w", "a", SlotAsk{kNoon}).window_start, kNoon);
}

TEST_P(SlotStoreContract, SharesAPoolAmongConfigsWithCapsOfTheirOwn) {
    put(sharing("p", draft("low", 3, 1s)));
    put(sharing("p", draft("high", 5, 1s)));
    take_many(4, "low", "low", SlotAsk{kNoon});
    EXPECT_THAT(counts("low", kNoon, 2), ElementsAre(3, 1));

    take_many(6, "high", "high", SlotAsk{kNoon});

    EXPECT_THAT(counts("high", kNoon, 3), ElementsAre(5, 5, 0));
    EXPECT_EQ(take("next", "low", SlotAsk{kNoon}).window_start, kNoon + 2s);
    EXPECT_EQ(take("urgent", "high", SlotAsk{kNoon + 2s}).window_start, kNoon + 2s);
    EXPECT_EQ(store().windows(config("low"), {kNoon, kNoon + 1s})->max, 3U);
    EXPECT_EQ(store().windows(config("high"), {kNoon, kNoon + 1s})->max, 5U);
}

TEST_P(SlotStoreContract, KeepsPoolsApart) {
    put(draft("a", 1, 1s));
    put(draft("b", 1, 1s));

    take("x", "a", SlotAsk{kNoon});

    EXPECT_EQ(take("y", "b", SlotAsk{kNoon}).window_start, kNoon);
}

TEST_P(SlotStoreContract, RefusesAnotherWindowSizeInASharedPool) {
    put(sharing("p", draft("a", 1, 1s)));
    const ConfigVersion b = put(sharing("p", draft("b", 1, 1s)));

    EXPECT_EQ(store().put_config(sharing("p", draft("c", 1, 2s))).error().fault, SlotFault::PoolWindowSize);
    EXPECT_EQ(store().put_config(sharing("p", draft("b", 9, 2s))).error().fault, SlotFault::PoolWindowSize);

    EXPECT_EQ(store().active_config(config("c")).error().fault, SlotFault::UnknownConfig);
    EXPECT_EQ(store().active_config(config("b"))->id, b.id);
    EXPECT_EQ(store().config_history(config("b"))->size(), 1U);
}

TEST_P(SlotStoreContract, RefusesAnotherWindowSizeWhileSlotsLieInTheFuture) {
    put(draft("a", 2, 1s));
    take_many(3, "x", "a", SlotAsk{kNoon});

    EXPECT_EQ(store().put_config(draft("a", 2, 4s)).error().fault, SlotFault::WindowSizeInUse);
    around_.clock.set(kNoon + 1500ms);
    EXPECT_EQ(store().put_config(draft("a", 2, 4s)).error().fault, SlotFault::WindowSizeInUse);

    EXPECT_EQ(store().active_config(config("a"))->terms.window_size, 1s);
    EXPECT_EQ(store().config_history(config("a"))->size(), 1U);
    EXPECT_TRUE(store().put_config(draft("a", 9, 1s))) << "the cap may change all the same";
}

TEST_P(SlotStoreContract, CutsAPoolAnewOnceItsSlotsLieInThePast) {
    put(draft("a", 2, 1s));
    take_many(6, "x", "a", SlotAsk{kNoon});
    around_.clock.set(kNoon + 1h);

    ASSERT_TRUE(store().put_config(draft("a", 7, 4s)));

    EXPECT_THAT(counts("a", kNoon, 2), ElementsAre(6, 0)) << "three windows of two are one window of six";
    EXPECT_EQ(take("y", "a", SlotAsk{kNoon}).window_start, kNoon);
    EXPECT_EQ(take("z", "a", SlotAsk{kNoon}).window_start, kNoon + 4s) << "the cap holds for past times too";
    ASSERT_TRUE(run(CancelSlot{event("x5")}));
    EXPECT_THAT(counts("a", kNoon, 2), ElementsAre(6, 1));
    EXPECT_EQ(run(MoveSlot{event("x4"), kNoon + 40s})->slot.window_start, kNoon + 40s);
    EXPECT_THAT(counts("a", kNoon, 2), ElementsAre(5, 1));
}

TEST_P(SlotStoreContract, CutsAPoolIntoSmallerWindowsAndBack) {
    put(draft("a", 8, 4s));
    take_many(8, "x", "a", SlotAsk{kNoon});
    around_.clock.set(kNoon + 1h);

    put(draft("a", 8, 1s));
    const auto fine = counts("a", kNoon, 5);
    put(draft("a", 8, 4s));

    EXPECT_EQ(fine[0] + fine[1] + fine[2] + fine[3], 8U);
    EXPECT_EQ(fine[4], 0U);
    EXPECT_THAT(counts("a", kNoon, 2), ElementsAre(8, 0));
}

TEST_P(SlotStoreContract, RefusesToCutWindowsThatWouldHoldMoreThanCanBeCounted) {
    put(draft("a", kMaxPerWindowLimit, 1s));
    take_many(5, "x", "a", SlotAsk{kNoon, kMaxPerWindowLimit});
    around_.clock.set(kNoon + 1h);

    EXPECT_EQ(store().put_config(draft("a", 1, 10s)).error().fault, SlotFault::PoolWindowSize);

    EXPECT_TRUE(store().put_config(draft("a", 1, 4s))) << "four of them can still be counted";
}

TEST_P(SlotStoreContract, MayCutAPoolAnewWhenItsFutureIsCancelled) {
    put(draft("a", 2, 1s));
    take("x", "a", SlotAsk{kNoon});
    ASSERT_TRUE(run(CancelSlot{event("x")}));

    EXPECT_TRUE(store().put_config(draft("a", 2, 4s)));
}

TEST_P(SlotStoreContract, LetsAConfigChangeItsPool) {
    put(draft("a", 1, 1s));
    take("x", "a", SlotAsk{kNoon});

    put(sharing("p", draft("a", 1, 4s)));

    EXPECT_EQ(take("y", "a", SlotAsk{kNoon}).window_start, kNoon);
    ASSERT_TRUE(run(CancelSlot{event("x")})) << "its place is given back where it was taken";
    EXPECT_THAT(counts("a", kNoon, 1), ElementsAre(1));
}

TEST_P(SlotStoreContract, SeesItsOwnChangeInTheNextRequest) {
    put(draft("a", 1, 1s));
    take("x", "a", SlotAsk{kNoon});

    put(draft("a", 2, 1s));

    EXPECT_EQ(take("y", "a", SlotAsk{kNoon}).window_start, kNoon);
}

TEST_P(SlotStoreContract, ReadsConfigsAgainAfterAFlush) {
    put(draft("a", 5, 1s));
    take("x", "a", SlotAsk{kNoon});
    const auto misses = around_.metrics.misses.load();
    const auto hits = around_.metrics.hits.load();

    store().flush_config_cache();
    take("y", "a", SlotAsk{kNoon});
    take("z", "a", SlotAsk{kNoon});

    EXPECT_EQ(around_.metrics.misses, misses + 1);
    EXPECT_EQ(around_.metrics.hits, hits + 1);
}

TEST_P(SlotStoreContract, ReadsConfigsAgainAfterFiveSeconds) {
    put(draft("a", 5, 1s));
    take("x", "a", SlotAsk{kNoon});
    const auto misses = around_.metrics.misses.load();

    around_.clock.advance(5s);
    take("y", "a", SlotAsk{kNoon});

    EXPECT_EQ(around_.metrics.misses, misses + 1);
}

TEST_P(SlotStoreContract, QuotesWhatAnAssignmentThenGives) {
    put(draft("a", 2, 1s));
    for (std::size_t i = 0; i < 7; ++i) {
        const SlotAsk ask{kNoon + 300ms * static_cast<std::int64_t>(i), 1, 9s};

        const auto quote = store().quote({event(i), config("a"), ask});
        const Slot slot = run(assign(event(i), "a", ask))->slot;

        ASSERT_TRUE(quote);
        EXPECT_EQ(quote->window_start, slot.window_start);
        EXPECT_EQ(quote->config_id, slot.config_id);
        EXPECT_EQ(quote->scheduled, std::max(slot.window_start, ask.requested)) << "the earliest there is";
        EXPECT_LE(quote->scheduled, slot.scheduled);
    }
}

TEST_P(SlotStoreContract, ReservesNothingByAQuote) {
    put(draft("a", 1, 1s));
    for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(store().quote({event("x"), config("a"), SlotAsk{kNoon}})->window_start, kNoon);
        EXPECT_EQ(store().quote({std::nullopt, config("a"), SlotAsk{kNoon}})->window_start, kNoon);
    }

    EXPECT_EQ(store().find(event("x")).error().fault, SlotFault::UnknownEvent);
    EXPECT_THAT(counts("a", kNoon, 1), ElementsAre(0));
}

TEST_P(SlotStoreContract, QuotesTheSlotThatAKnownEventHas) {
    put(draft("a", 1, 1s));
    const Slot slot = take("x", "a", SlotAsk{kNoon});

    EXPECT_EQ(*store().quote({event("x"), config("nowhere"), SlotAsk{kNoon + 1h}}), slot);
}

TEST_P(SlotStoreContract, RefusesAQuoteAsItWouldRefuseTheAssignment) {
    put(looking_ahead(0, draft("a", 2, 1s)));
    take_many(2, "x", "a", SlotAsk{kNoon});

    const auto full = store().quote({std::nullopt, config("a"), SlotAsk{kNoon}});
    const auto heavy = store().quote({std::nullopt, config("a"), SlotAsk{kNoon, 3}});

    EXPECT_EQ(full.error().fault, SlotFault::Exhausted);
    EXPECT_EQ(full.error().windows_searched, 1);
    EXPECT_EQ(heavy.error().fault, SlotFault::WeightAboveCap);
}

TEST_P(SlotStoreContract, ReportsEveryWindowOfARange) {
    put(draft("a", 2, 4s));
    take_many(3, "x", "a", SlotAsk{kNoon});

    const auto report = store().windows(config("a"), {kNoon - 1ms, kNoon + 8001ms});

    ASSERT_TRUE(report);
    EXPECT_EQ(report->max, 2U);
    ASSERT_EQ(report->windows.size(), 4U);
    EXPECT_EQ(report->windows[0].start, kNoon - 4s);
    EXPECT_EQ(report->windows[0].count, 0U);
    EXPECT_EQ(report->windows[1].start, kNoon);
    EXPECT_EQ(report->windows[1].count, 2U);
    EXPECT_EQ(report->windows[2].count, 1U);
    EXPECT_EQ(report->windows[3].start, kNoon + 8s);
    EXPECT_EQ(report->windows[3].count, 0U);
}

TEST_P(SlotStoreContract, ReportsNoWindowThatOnlyBeginsWhereTheRangeEnds) {
    put(draft("a", 2, 4s));

    EXPECT_EQ(store().windows(config("a"), {kNoon, kNoon + 8s})->windows.size(), 2U);
    EXPECT_TRUE(store().windows(config("a"), {kNoon, kNoon})->windows.empty());
    EXPECT_TRUE(store().windows(config("a"), {kNoon, kNoon - 1h})->windows.empty());
}

TEST_P(SlotStoreContract, RefusesToReportTooManyWindows) {
    put(draft("a", 2, 1s));
    const Duration most = 1s * static_cast<std::int64_t>(kWindowsReportedMax);

    EXPECT_EQ(store().windows(config("a"), {kNoon, kNoon + most})->windows.size(), kWindowsReportedMax);
    EXPECT_EQ(store().windows(config("a"), {kNoon, kNoon + most + 1ms}).error().fault,
              SlotFault::RangeTooLarge);
}

}  // namespace
}  // namespace sluice::test
