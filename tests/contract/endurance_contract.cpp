#include <latch>
#include <map>
#include <mutex>
#include <thread>

#include "app/slots/slot_service.hpp"
#include "contract/slot_store_contract.hpp"

namespace sluice::test {
namespace {

using testing::ElementsAre;

TEST_P(SlotStoreContract, KeepsEverythingOverARestart) {
    const ConfigVersion first = put(looking_ahead(3, draft("a", 2, 1s)));
    const auto slots = take_many(5, "x", "a", SlotAsk{kNoon, 1, 9s});
    const Slot moved = run(MoveSlot{event("x0"), kNoon + 1h})->slot;
    const Slot cancelled = run(CancelSlot{event("x1")})->slot;
    const ConfigVersion second = put(sharing("p", draft("b", 3, 4s)));

    world_->restart();

    EXPECT_EQ(take("x2", "a", SlotAsk{kNoon}), slots[2]);
    EXPECT_EQ(take("x0", "a", SlotAsk{kNoon}), moved);
    EXPECT_THAT(store().find(event("x0"))->past, ElementsAre(slots[0]));
    EXPECT_EQ(store().find(event("x1"))->slot, cancelled);
    EXPECT_EQ(fault_of(assign("x1", "a", SlotAsk{kNoon})), SlotFault::Cancelled);
    EXPECT_EQ(store().active_config(config("a"))->id, first.id);
    EXPECT_EQ(store().active_config(config("a"))->terms.max_lookahead, 3);
    EXPECT_EQ(store().active_config(config("b"))->terms.pool, pool("p"));
    EXPECT_EQ(store().config_history(config("b"))->at(0).effective_from, second.effective_from);
    EXPECT_THAT(counts("a", kNoon, 3), ElementsAre(0, 2, 1));
    EXPECT_THAT(counts("a", kNoon + 1h, 1), ElementsAre(1));
}

TEST_P(SlotStoreContract, GoesOnWhereItWasAfterARestart) {
    const ConfigVersion first = put(draft("a", 2, 1s));
    take_many(3, "x", "a", SlotAsk{kNoon});

    world_->restart();

    EXPECT_EQ(take("y", "a", SlotAsk{kNoon}).window_start, kNoon + 1s);
    EXPECT_EQ(take("z", "a", SlotAsk{kNoon}).window_start, kNoon + 2s);
    EXPECT_GT(put(draft("b", 1, 1s)).id, first.id);
    EXPECT_EQ(run(MoveSlot{event("y"), kNoon + 1h})->slot.revision, 1U);
}

TEST_P(SlotStoreContract, KeepsARecutPoolOverARestart) {
    put(draft("a", 2, 1s));
    put(draft("b", 2, 1s));
    take_many(6, "x", "a", SlotAsk{kNoon});
    take_many(2, "y", "b", SlotAsk{kNoon});
    around_.clock.set(kNoon + 1h);
    put(draft("a", 6, 4s));

    world_->restart();

    EXPECT_THAT(counts("a", kNoon, 2), ElementsAre(6, 0));
    EXPECT_THAT(counts("b", kNoon, 2), ElementsAre(2, 0));
    EXPECT_EQ(take("z", "a", SlotAsk{kNoon}).window_start, kNoon + 4s);
    put(draft("b", 6, 4s));
    world_->restart();
    EXPECT_THAT(counts("a", kNoon, 2), ElementsAre(6, 1));
    EXPECT_THAT(counts("b", kNoon, 2), ElementsAre(2, 0));
}

TEST_P(SlotStoreContract, KeepsEveryVersionOverARestart) {
    for (Places cap = 1; cap <= 100; ++cap) {
        put(draft("a", cap, 1s));
    }

    world_->restart();

    const auto history = store().config_history(config("a")).value();
    ASSERT_EQ(history.size(), 100U);
    for (std::size_t i = 0; i < history.size(); ++i) {
        EXPECT_EQ(history[i].terms.max_per_window, 100 - i);
        EXPECT_EQ(history[i].active, i == 0);
    }
}

// Sanitizers make everything many times slower.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr std::size_t kEvents = 2'000;
#else
constexpr std::size_t kEvents = 20'000;
#endif
constexpr std::size_t kThreads = 64;
constexpr std::size_t kCopies = 3;  // How many threads ask for each event.

// All replies to one event, from whichever thread asked.
class Replies {
public:
    void add(const SlotOutcome& outcome) {
        const std::lock_guard lock{mutex_};
        if (!outcome) {
            ++failures_;
            return;
        }
        fresh_ += outcome->repeated ? 0U : 1U;
        slots_.emplace(outcome->slot.event_id, outcome->slot);
        const Slot& known = slots_.at(outcome->slot.event_id);
        different_ += known == outcome->slot ? 0U : 1U;
    }

    void expect_one_answer_each(std::size_t events) const {
        EXPECT_EQ(failures_, 0U);
        EXPECT_EQ(slots_.size(), events);
        EXPECT_EQ(fresh_, events) << "each event is assigned once";
        EXPECT_EQ(different_, 0U) << "and answered alike each time";
    }
    [[nodiscard]] const std::map<EventId, Slot>& slots() const { return slots_; }

private:
    std::mutex mutex_;  // Guards everything below.
    std::map<EventId, Slot> slots_;
    std::size_t failures_ = 0;
    std::size_t fresh_ = 0;
    std::size_t different_ = 0;
};

TEST_P(SlotStoreContract, GivesEachEventOneSlotWhenManyThreadsAskAtOneTime) {
    constexpr Places kCap = 7;
    const std::size_t events = kEvents / GetParam().round_trips;
    put(draft("a", kCap, 1s));
    Replies replies;
    const auto runtime = make_machine_runtime();
    SlotService service{{}, {store(), around_.metrics, around_.log, *runtime}};
    std::latch answered{static_cast<std::ptrdiff_t>(events * kCopies)};
    {
        std::vector<std::jthread> threads;
        for (std::size_t thread = 0; thread < kThreads; ++thread) {
            threads.emplace_back([&, thread] {
                // Copy c of event e belongs to one thread; neighbours carry its other copies.
                for (std::size_t i = thread; i < events * kCopies; i += kThreads) {
                    const auto done = [&](const SlotOutcome& outcome) {
                        replies.add(outcome);
                        answered.count_down();
                    };
                    service.assign(assign(event(i / kCopies), "a", SlotAsk{kNoon}), done,
                                   WhenFull::WaitForRoom);
                }
            });
        }
    }
    answered.wait();
    service.stop();

    replies.expect_one_answer_each(events);
    std::map<Instant, Places> windows;
    for (const auto& [id, slot] : replies.slots()) {
        ++windows[slot.window_start];
    }
    EXPECT_EQ(windows.size(), (events + kCap - 1) / kCap) << "no window was left with room";
    EXPECT_TRUE(
        std::all_of(windows.begin(), windows.end(), [](const auto& row) { return row.second <= kCap; }));
    EXPECT_EQ(world_->recount_all().slots, events);
}

TEST_P(SlotStoreContract, HoldsItsPromisesWhileThreadsAssignCancelAndMove) {
    put(draft("a", 5, 1s));
    {
        std::vector<std::jthread> threads;
        for (std::size_t thread = 0; thread < 8; ++thread) {
            threads.emplace_back([&, thread] {
                Random random{thread};
                for (int i = 0; i < 40; ++i) {
                    std::vector<SlotCommand> commands;
                    for (int k = 0; k < 8; ++k) {
                        const EventId id = event(random.below(200));
                        const auto kind = random.below(4);
                        const Instant requested = kNoon + 1s * static_cast<std::int64_t>(random.below(20));
                        commands.push_back(kind == 0   ? SlotCommand{CancelSlot{id}}
                                           : kind == 1 ? SlotCommand{MoveSlot{id, requested}}
                                                       : SlotCommand{assign(id, "a", SlotAsk{requested})});
                    }
                    store().execute(commands);
                }
            });
        }
    }

    const auto report = world_->recount_all();
    EXPECT_THAT(report.differences, testing::IsEmpty());
    EXPECT_GT(report.slots, 100U);
}

}  // namespace
}  // namespace sluice::test
