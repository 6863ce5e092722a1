#pragma once

#include "contract/slot_store_contract.hpp"
#include "support/work_words.hpp"

namespace sluice::test {

// What every WorkStore promises, and the SlotStore whose work it keeps.
class WorkStoreContract : public testing::TestWithParam<StoreKind> {
protected:
    void SetUp() override { start({}); }
    void TearDown() override {
        if (world_ != nullptr) {
            EXPECT_THAT(world_->recount_all().differences, testing::IsEmpty());
        }
    }

    void start(StoreSettings settings) {
        world_.reset();
        world_ = GetParam().make(settings, around_);
        if (world_ == nullptr || world_->store().work() == nullptr) {
            GTEST_SKIP() << "the server that this store needs is not there; tools/services starts it";
        }
        ASSERT_TRUE(slots().put_config(draft("a", 100, 1s)));
    }
    void restart() { world_->restart(); }

    SlotStore& slots() { return world_->store(); }
    WorkStore& works() { return *world_->store().work(); }

    SlotOutcome run(SlotCommand command) { return run_one(slots(), std::move(command)); }
    std::optional<SlotFault> fault_of(SlotCommand command) {
        const SlotOutcome outcome = run(std::move(command));
        return outcome ? std::nullopt : std::optional{outcome.error().fault};
    }
    // REQUIRES: it succeeds.
    Slot give(std::string_view id, WorkOrder order = test::order(), Instant requested = kNoon) {
        return must(run(with_work(assign(id, "a", SlotAsk{requested}), std::move(order)))).slot;
    }
    // All that has been given so far is due then.
    void go_to(Instant now) { around_.clock.set(now); }
    void let_all_come_due() { go_to(kNoon + 1s); }

    Taken take(const Lane& lane, const WorkStore::Judge& judge, std::size_t most = 100) {
        auto taken = works().take(lane, most, judge);
        EXPECT_TRUE(taken) << taken.error().what;
        return taken ? std::move(*taken) : Taken{};
    }
    void settle(std::string_view id, std::uint32_t attempt, decltype(Settlement::after) after) {
        const Settlement settlement{event(id), attempt, std::move(after), attempt_line(attempt)};
        EXPECT_TRUE(works().settle({&settlement, 1}));
    }
    // A store looks for what is too old when it starts, and when a command comes.
    void start_again_after(Duration time) {
        around_.clock.advance(time);
        restart();
        static_cast<void>(run(CancelSlot{event("nobody")}));
    }
    // Stores forget in their own time. False: the event is still known after one that a busy machine keeps.
    bool forgets(std::string_view id) {
        const auto deadline = std::chrono::steady_clock::now() + 20s;
        while (slots().find(event(id)) && std::chrono::steady_clock::now() < deadline) {
            std::this_thread::yield();
        }
        return !slots().find(event(id));
    }
    // One work that was claimed and failed for good.
    void let_die(std::string_view id) {
        take(kDue, claiming());
        settle(id, 1, Settlement::Failed{});
    }

    Work work(std::string_view id) { return works().find(event(id)).value().value().work; }
    std::vector<AuditLine> audit(std::string_view id) {
        return works().find(event(id)).value().value().audit;
    }
    std::vector<AuditLine::Action> actions(std::string_view id) {
        std::vector<AuditLine::Action> result;
        const auto lines = audit(id);
        for (const AuditLine& line : lines) {
            result.push_back(line.action);
        }
        return result;
    }
    // The events that stand in a lane and are due, in the order in which a judge sees them.
    std::vector<std::string> seen_in(const Lane& lane) {
        std::vector<std::string> seen;
        take(lane, [&](const DueWork& due) {
            seen.push_back(due.work.event_id.text());
            return WorkVerdict{SetAside{lane, due.work.state == WorkState::Parked}};
        });
        return seen;
    }
    std::uint64_t count(LaneKind kind) {
        const auto counts = works().counts().value();
        for (const LaneCount& one : counts) {
            if (one.kind == kind) {
                return one.works;
            }
        }
        return 0;
    }

    StoreSurroundings around_;
    std::unique_ptr<StoreUnderTest> world_;
};

inline std::vector<std::string> ids_of(const std::vector<ClaimedWork>& claimed) {
    std::vector<std::string> ids;
    for (const ClaimedWork& one : claimed) {
        ids.push_back(one.work.event_id.text());
    }
    return ids;
}
inline std::vector<std::string> ids_of(const std::vector<Work>& works) {
    std::vector<std::string> ids;
    for (const Work& one : works) {
        ids.push_back(one.event_id.text());
    }
    return ids;
}

}  // namespace sluice::test
