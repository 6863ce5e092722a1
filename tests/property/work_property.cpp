// Random histories of works against a simple model, on memory and on RocksDB, with restarts.
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/slots/slot_ledger.hpp"
#include "base/random.hpp"
#include "store/memory/memory_slot_tables.hpp"
#include "support/counting_metrics.hpp"
#include "support/hand_clock.hpp"
#include "support/recording_log.hpp"
#include "support/rocks_tables.hpp"
#include "support/shared_tables.hpp"
#include "support/temp_folder.hpp"
#include "support/work_check.hpp"
#include "support/work_words.hpp"

namespace sluice::test {
namespace {

using testing::IsEmpty;

// What a history expects of a work.
struct Expected {
    WorkState state = WorkState::Pending;
    Lane lane{};
    Instant due{};
    std::uint32_t attempts = 0;
};

class WorkHistory {
public:
    using Open = std::function<std::shared_ptr<SlotTables>()>;
    WorkHistory(Open open, std::uint64_t seed) : open_{std::move(open)}, random_{seed} { restart(); }

    void run(int steps) {
        ASSERT_TRUE(store_->put_config(draft("a", 5, 1s)));
        for (int i = 0; i < steps && !testing::Test::HasFailure(); ++i) {
            clock_.advance(some_time(400));
            step();
        }
        check();
        restart();
        check();
    }

private:
    void restart() {
        store_.reset();
        tables_.reset();
        tables_ = open_();
        store_ = make_slot_ledger(std::make_unique<SharedTables>(tables_), {}, {clock_, metrics_, log_});
    }

    void step() {
        switch (random_.below(12)) {
            case 0:
            case 1:
            case 2: return give();
            case 3: return cancel();
            case 4: return move();
            case 5:
            case 6:
            case 7: return take();
            case 8:
            case 9: return settle();
            case 10: return replay();
            default: random_.below(10) == 0 ? restart() : check();
        }
    }

    Duration some_time(std::uint64_t below) {
        return Duration{static_cast<Duration::rep>(random_.below(below))};
    }
    std::string some_event() { return "e" + std::to_string(random_.below(next_ + 2)); }
    static WorkState waiting(const Expected& one) {
        return one.attempts > 0 ? WorkState::Retrying : WorkState::Pending;
    }

    void give() {
        const std::string id = "e" + std::to_string(next_++);
        const Instant when = clock_.now() + some_time(2000);
        const auto outcome = run_one(*store_, with_work(assign(id, "a", SlotAsk{when})));
        ASSERT_TRUE(outcome);
        model_[id] = {WorkState::Pending, kDue, outcome->slot.scheduled, 0};
    }
    void cancel() {
        const std::string id = some_event();
        const auto outcome = run_one(*store_, CancelSlot{event(id)});
        const auto known = model_.find(id);
        ASSERT_EQ(outcome.has_value(), known != model_.end() && known->second.state != WorkState::Claimed &&
                                           known->second.state != WorkState::Sent);
        if (outcome && !outcome->repeated) {
            known->second.state = WorkState::Withdrawn;
            known->second.lane = {};
            known->second.due = clock_.now();
        }
    }
    void move() {
        const std::string id = some_event();
        const auto outcome = run_one(*store_, MoveSlot{event(id), clock_.now() + some_time(2000)});
        const auto known = model_.find(id);
        if (outcome && !outcome->repeated) {
            ASSERT_TRUE(known->second.attempts == 0 && (known->second.state == WorkState::Pending ||
                                                        known->second.state == WorkState::Parked));
            known->second = {WorkState::Pending, kDue, outcome->slot.scheduled, 0};
        }
    }
    WorkVerdict judge(const DueWork& due) {
        const std::string id = due.work.event_id.text();
        Expected& one = model_.at(id);
        EXPECT_EQ(due.work.lane, one.lane);
        EXPECT_LE(one.due, clock_.now());
        switch (random_.below(8)) {
            case 0:
            case 1:
                one.lane = lane(LaneKind::Pool, random_.below(2) == 0 ? "a" : "ab");
                one.state = waiting(one);
                return SetAside{one.lane};
            case 2:
                one.lane = lane(LaneKind::Endpoint, due.work.route.endpoint);
                one.state = waiting(one);  // The endpoint is not on hold.
                return SetAside{one.lane, true};
            case 3:
                one = {WorkState::Retrying, kDue, clock_.now() + 300ms, one.attempts};
                return TryAgain{300ms, line_of(AuditLine::Action::Lost)};
            case 4:
                one = {WorkState::Expired, kDead, clock_.now(), one.attempts};
                return GiveUp{WorkState::Expired, line_of(AuditLine::Action::GivenUp)};
            case 5: return LeaveIt{};
            default:
                one = {WorkState::Claimed, kClaimed, clock_.now() + 1s, one.attempts + 1};
                return ClaimIt{1s};
        }
    }
    void take() {
        auto lanes = store_->work()->lanes().value();
        lanes.push_back(kDue);
        const Lane from = lanes[random_.below(lanes.size())];
        const auto taken = store_->work()->take(from, 1 + random_.below(8),
                                                [this](const DueWork& due) { return judge(due); });
        ASSERT_TRUE(taken);
        std::optional<Instant> next;
        for (const auto& [id, one] : model_) {
            if (one.lane == from && !is_final(one.state)) {
                next = std::min(next.value_or(one.due), one.due);
            }
        }
        EXPECT_EQ(taken->next, next);
    }
    void settle() {
        const std::string id = some_event();
        const auto known = model_.find(id);
        if (known == model_.end()) {
            return;
        }
        Expected& one = known->second;
        const std::uint32_t attempt =
            std::max(1U, one.attempts - static_cast<std::uint32_t>(random_.below(4) / 3));
        Settlement settlement{event(id), attempt, Settlement::Done{}, attempt_line(attempt)};
        const bool counts = one.state == WorkState::Claimed && one.attempts == attempt;
        Expected after{WorkState::Sent, {}, clock_.now(), one.attempts};
        switch (random_.below(4)) {
            case 0: break;
            case 1:
                settlement.after = Settlement::Again{200ms};
                after = {WorkState::Retrying, kDue, clock_.now() + 200ms, one.attempts};
                break;
            case 2:
                settlement.after = Settlement::Failed{};
                after = {WorkState::Dead, kDead, clock_.now(), one.attempts};
                break;
            default:
                settlement.after = Settlement::NotSent{};
                after = {WorkState::Pending, kDue, clock_.now(), one.attempts - 1};
                after.state = waiting(after);
        }
        ASSERT_TRUE(store_->work()->settle({&settlement, 1}));
        if (counts) {
            one = after;
        }
    }
    void replay() {
        ReplayRequest request;
        std::uint64_t expected = 0;
        const std::string chosen = some_event();
        if (random_.below(2) == 0) {
            request.host = "h1";
        } else {
            request.event_ids.push_back(event(chosen));
        }
        for (auto& [id, one] : model_) {
            if (one.lane == kDead && !is_final(one.state) && (request.host || id == chosen)) {
                one = {waiting(one), kDue, clock_.now(), one.attempts};
                ++expected;
            }
        }
        EXPECT_EQ(store_->work()->replay(request, "ops").value(), expected);
    }

    void check() {
        ASSERT_THAT(wrongs_of_work(*tables_), IsEmpty());
        ASSERT_THAT(recount(*tables_).value().differences, IsEmpty());
        std::map<LaneKind, std::uint64_t> lanes;
        for (const auto& [id, one] : model_) {
            const auto story = store_->work()->find(event(id)).value();
            ASSERT_TRUE(story) << id;
            EXPECT_EQ(story->work.state, one.state) << id;
            EXPECT_EQ(story->work.due, one.due) << id;
            EXPECT_EQ(story->work.attempts, one.attempts) << id;
            if (!is_final(one.state)) {
                EXPECT_EQ(story->work.lane, one.lane) << id;
                ++lanes[one.lane.kind];
            }
        }
        std::map<LaneKind, std::uint64_t> counted;
        const auto counts = store_->work()->counts().value();
        for (const LaneCount& count : counts) {
            counted[count.kind] = count.works;
        }
        EXPECT_EQ(counted, lanes);
    }

    const Open open_;
    Random random_;
    HandClock clock_{kNoon};
    CountingMetrics metrics_;
    RecordingLog log_;
    std::shared_ptr<SlotTables> tables_;
    std::unique_ptr<SlotStore> store_;
    std::size_t next_ = 0;
    std::map<std::string, Expected> model_;
};

TEST(WorkHistories, AreAsTheModelSaysInMemory) {
    for (std::uint64_t seed = 1; seed <= 60 && !HasFailure(); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        std::shared_ptr<SlotTables> tables = make_memory_slot_tables();
        WorkHistory{[&] { return tables; }, seed}.run(300);
    }
}

TEST(WorkHistories, AreAsTheModelSaysOnRocksDb) {
    for (std::uint64_t seed = 101; seed <= 106 && !HasFailure(); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        const TempFolder folder;
        const auto open = [&]() -> std::shared_ptr<SlotTables> {
            return open_rocks_tables({folder / "data"}).value();
        };
        WorkHistory{open, seed}.run(200);
    }
}

}  // namespace
}  // namespace sluice::test
