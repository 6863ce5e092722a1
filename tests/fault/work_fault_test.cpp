// The Nth write fails while works are assigned, claimed, settled, cancelled, moved and replayed, for every N:
// nothing is lost, and slots, works, orders and lanes always agree.
#include <functional>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/slots/slot_ledger.hpp"
#include "store/memory/memory_slot_tables.hpp"
#include "support/counting_metrics.hpp"
#include "support/faulty_files.hpp"
#include "support/hand_clock.hpp"
#include "support/recording_log.hpp"
#include "support/rocks_tables.hpp"
#include "support/work_check.hpp"
#include "support/work_words.hpp"

namespace sluice::test {
namespace {

using testing::IsEmpty;

constexpr Duration kRecoveryPause{200};
constexpr std::uint64_t kReserve = 70'000'000;

struct Surroundings {
    HandClock clock{kNoon - 1h};
    CountingMetrics metrics;
    RecordingLog log;
};

// A life of works, step by step; each step is tried until it succeeds.
class WorkLife {
public:
    WorkLife(SlotStore& store, HandClock& clock, std::function<void()> heal)
        : store_{store}, clock_{clock}, heal_{std::move(heal)} {}

    void run() {
        insist([&] { return store_.put_config(draft("a", 3, 1s)).has_value(); });
        insist([&] { return assign_some(); });
        insist([&] { return execute(MoveSlot{event("m"), kNoon + 2s}); });
        insist([&] { return execute(CancelSlot{event("c")}); });
        clock_.set(std::max(clock_.now(), kNoon + 10s));
        insist([&] { return claim(kDue, 3); });
        insist([&] { return settle_claims(); });
        insist([&] { return store_.work()->hold({SubjectKind::Host, "h1"}, {}).has_value(); });
        insist([&] { return claim(kDue, 10); });
        insist([&] { return settle_claims(); });
        clock_.advance(1min);
        insist([&] { return store_.work()->take(kClaimed, 100, trying_again(0ms)).has_value(); });
        insist([&] { return store_.work()->replay({.host = "h1"}, "ops").has_value(); });
        insist([&] { return claim(kDue, 100); });
    }

    // What was answered is as it was, or has gone on from there.
    void check(SlotStore& store) const {
        for (const auto& [id, attempts] : claimed_) {
            const auto story = store.work()->find(event(id));
            ASSERT_TRUE(story && *story) << id;
            EXPECT_GE((*story)->work.attempts, attempts) << id << " was claimed, and nobody knows it";
        }
        for (const std::string& id : sent_) {
            EXPECT_EQ((*store.work()->find(event(id)).value()).work.state, WorkState::Sent) << id;
        }
    }

private:
    void insist(const std::function<bool()>& step) {
        for (int attempt = 0; attempt < 10; ++attempt) {
            if (step()) {
                return;
            }
            clock_.advance(kRecoveryPause);
            if (attempt == 2) {
                heal_();
            }
        }
        ADD_FAILURE() << "a step never succeeded";
    }
    bool execute(const SlotCommand& command) { return run_one(store_, command).has_value(); }
    bool assign_some() {
        AssignAll all;
        for (const char* id : {"c", "m", "p", "q", "r", "s", "t"}) {
            all.events.push_back(with_work(assign(id, "a", SlotAsk{kNoon})));
        }
        all.events.push_back(assign("plain", "a", SlotAsk{kNoon}));
        return run_all(store_, all).has_value();
    }
    bool claim(const Lane& lane, std::size_t most) {
        const auto taken = store_.work()->take(lane, most, [](const DueWork& due) -> WorkVerdict {
            if (due.work.event_id.text() == "r") {
                return SetAside{test::lane(LaneKind::Pool, "a")};
            }
            return ClaimIt{20s};
        });
        if (!taken) {
            return false;
        }
        for (const ClaimedWork& one : taken->claimed) {
            claimed_[one.work.event_id.text()] = one.work.attempts;
            open_[one.work.event_id.text()] = one.work.attempts;
        }
        return true;
    }
    // One is done, one fails, one is parked, and so on.
    bool settle_claims() {
        std::vector<Settlement> settlements;
        for (const auto& [id, attempt] : open_) {
            Settlement one{event(id), attempt, Settlement::Done{}, attempt_line(attempt)};
            if (id == "q") {
                one.after = Settlement::Failed{};
            } else if (id == "s") {
                one.after = Settlement::Parked{"node"};
            } else if (id == "t") {
                one.after = Settlement::NotSent{};
            }
            settlements.push_back(one);
        }
        if (!store_.work()->settle(settlements)) {
            return false;
        }
        for (const Settlement& one : settlements) {
            if (std::holds_alternative<Settlement::Done>(one.after)) {
                sent_.push_back(one.event_id.text());
            }
        }
        open_.clear();
        return true;
    }

    SlotStore& store_;
    HandClock& clock_;
    const std::function<void()> heal_;
    std::map<std::string, std::uint32_t> claimed_;
    std::map<std::string, std::uint32_t> open_;
    std::vector<std::string> sent_;
};

void expect_sound(SlotTables& tables) {
    EXPECT_THAT(wrongs_of_work(tables), IsEmpty());
    EXPECT_THAT(recount(tables).value().differences, IsEmpty());
}

struct TableCase {
    std::string name;
    TableFault fault;
};
void PrintTo(const TableCase& one, std::ostream* out) { *out << one.name; }

class WorkOnFaultyTables : public testing::TestWithParam<TableCase> {};

TEST_P(WorkOnFaultyTables, LosesNothingWhicheverWriteFails) {
    std::size_t nth = 1;
    for (;; ++nth) {
        SCOPED_TRACE("call " + std::to_string(nth) + " fails");
        Surroundings around;
        const std::shared_ptr<SlotTables> tables = make_memory_slot_tables();
        auto faulty = std::make_unique<FaultyTables>(tables);
        FaultyTables& faults = *faulty;
        const auto store =
            make_slot_ledger(std::move(faulty), {}, {around.clock, around.metrics, around.log});
        TableFault fault = GetParam().fault;
        fault.nth = nth;
        faults.arm(fault);
        WorkLife life{*store, around.clock, [&] { faults.heal(); }};

        life.run();

        expect_sound(*tables);
        life.check(*store);
        if (faults.fired() == 0 || HasFailure()) {
            break;
        }
    }
    EXPECT_GT(nth, 5U) << "hardly any call was broken";
}

INSTANTIATE_TEST_SUITE_P(
    EveryCall, WorkOnFaultyTables,
    testing::Values(TableCase{"CommitOnce", {TableCall::Commit, 1, Lasting::Once}},
                    TableCase{"CommitLasting", {TableCall::Commit, 1, Lasting::UntilHealed}},
                    TableCase{"CommitDoneAllTheSame",
                              {TableCall::Commit, 1, Lasting::Once, Truth::DoneAllTheSame}}),
    [](const auto& one) { return one.param.name; });

struct FileCase {
    std::string name;
    FileFault fault;
};
void PrintTo(const FileCase& one, std::ostream* out) { *out << one.name; }

class WorkOnFaultyFiles : public testing::TestWithParam<FileCase> {};

TEST_P(WorkOnFaultyFiles, LosesNothingWhicheverWriteFails) {
    std::size_t nth = 1;
    for (;; ++nth) {
        SCOPED_TRACE("call " + std::to_string(nth) + " fails");
        FaultyFiles files;
        Surroundings around;
        const auto open = [&]() -> std::shared_ptr<SlotTables> {
            return open_rocks_tables({.path = "/disk/data", .env = files.env(), .reserve = kReserve}).value();
        };
        auto tables = open();
        auto store = make_slot_ledger(std::make_unique<SharedTables>(tables), {},
                                      {around.clock, around.metrics, around.log});
        FileFault fault = GetParam().fault;
        fault.nth = nth;
        files.arm(fault);
        WorkLife life{*store, around.clock, [&] { files.heal(); }};

        life.run();
        const bool fired = files.fired() > 0;
        files.heal();

        expect_sound(*tables);
        life.check(*store);
        store.reset();
        tables.reset();
        tables = open();
        expect_sound(*tables);
        if (!fired || HasFailure()) {
            break;
        }
    }
    EXPECT_GT(nth, 5U) << "hardly any call was broken";
}

INSTANTIATE_TEST_SUITE_P(EveryCall, WorkOnFaultyFiles,
                         testing::Values(FileCase{"AppendOnce", {FileCall::Append, 1, Lasting::Once}},
                                         FileCase{"AppendLasting",
                                                  {FileCall::Append, 1, Lasting::UntilHealed}},
                                         FileCase{"SyncOnce", {FileCall::Sync, 1, Lasting::Once}}),
                         [](const auto& one) { return one.param.name; });

// Nothing goes on from memory after a write whose outcome is not known.
TEST(WorkAfterAFailure, IsNeitherClaimedNorSettledBeforeTheTablesWereReadAnew) {
    Surroundings around;
    const std::shared_ptr<SlotTables> tables = make_memory_slot_tables();
    auto faulty = std::make_unique<FaultyTables>(tables);
    FaultyTables& faults = *faulty;
    const auto store = make_slot_ledger(std::move(faulty), {}, {around.clock, around.metrics, around.log});
    ASSERT_TRUE(store->put_config(draft("a", 3, 1s)));
    ASSERT_TRUE(run_one(*store, with_work(assign("x", "a", SlotAsk{kNoon}))));
    around.clock.set(kNoon + 1s);
    faults.arm({TableCall::Commit, 1, Lasting::UntilHealed, Truth::DoneAllTheSame});

    EXPECT_FALSE(store->work()->take(kDue, 10, claiming()));
    faults.heal();

    EXPECT_FALSE(store->work()->take(kDue, 10, claiming()));
    EXPECT_FALSE(store->work()->settle({}));
    EXPECT_FALSE(store->work()->terms());
    EXPECT_FALSE(store->work()->hold({SubjectKind::Host, "h"}, {}));
    around.clock.advance(kRecoveryPause);
    EXPECT_THAT(store->work()->take(kDue, 10, claiming()).value().claimed, IsEmpty());
    EXPECT_EQ(store->work()->open_claims().value().size(), 1U);
}

class WorkOnANearlyFullDisk : public testing::Test {
protected:
    void SetUp() override {
        ASSERT_TRUE(store_->put_config(draft("a", 5, 1s)));
        ASSERT_TRUE(run_one(*store_, with_work(assign("x", "a", SlotAsk{kNoon}))));
        ASSERT_TRUE(run_one(*store_, with_work(assign("y", "a", SlotAsk{kNoon}))));
        around_.clock.set(kNoon + 1s);
    }
    bool settle(std::string_view id) {
        const Settlement done{event(id), 1, Settlement::Done{}, attempt_line(1)};
        return store_->work()->settle({&done, 1}).has_value();
    }

    FaultyFiles files_;
    Surroundings around_;
    std::unique_ptr<SlotStore> store_ = make_slot_ledger(
        open_rocks_tables({.path = "/disk/data", .env = files_.env(), .reserve = kReserve}).value(), {},
        {around_.clock, around_.metrics, around_.log});
};

TEST_F(WorkOnANearlyFullDisk, GoesOnWithWhatIsThereAndTakesNothingNew) {
    files_.set_free_space(kReserve - 1);

    EXPECT_EQ(run_one(*store_, with_work(assign("new", "a", SlotAsk{kNoon}))).error().fault,
              SlotFault::StoreFull);
    EXPECT_EQ(store_->work()->take(kDue, 1, claiming()).value().claimed.size(), 1U);
    EXPECT_TRUE(settle("x"));
}

TEST_F(WorkOnANearlyFullDisk, ClaimsNothingWithoutRoomButStoresOutcomes) {
    ASSERT_EQ(store_->work()->take(kDue, 10, claiming()).value().claimed.size(), 2U);
    files_.set_free_space(kReserve / 4 - 1);

    EXPECT_FALSE(store_->work()->take(kClaimed, 10, claiming()));
    EXPECT_FALSE(store_->work()->replay({.event_ids = {event("x")}}, "ops"));
    EXPECT_TRUE(settle("x"));
    EXPECT_EQ(store_->work()->find(event("x")).value()->work.state, WorkState::Sent);
}

}  // namespace
}  // namespace sluice::test
