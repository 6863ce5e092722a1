#include "app/slots/slot_service.hpp"

#include <functional>
#include <future>
#include <thread>

#include <gtest/gtest.h>

#include "app/slots/slot_ledger.hpp"
#include "store/memory/memory_slot_tables.hpp"
#include "support/counting_metrics.hpp"
#include "support/gate.hpp"
#include "support/hand_clock.hpp"
#include "support/recording_log.hpp"
#include "support/slot_words.hpp"

namespace sluice {
namespace {

using namespace test;

// A store that answers commands as a test says, and nothing else.
class ScriptedStore final : public SlotStore {
public:
    std::function<SlotReply(const SlotCommand&)> answer = [](const SlotCommand& command) -> SlotReply {
        if (const auto* all = std::get_if<AssignAll>(&command)) {
            return AllOutcome{std::vector<Granted>(all->events.size(), granted("all"))};
        }
        if (const auto* each = std::get_if<AssignEach>(&command)) {
            return EachOutcome(each->events.size(), SlotOutcome{granted("each")});
        }
        return SlotOutcome{granted(std::get<AssignSlot>(command).event_id.text())};
    };
    std::vector<std::size_t> batches;  // Touched by the service's workers; read when the service has stopped.

    static Granted granted(std::string_view id) {
        return {Slot{event(id), ConfigId{1}, kNoon, kNoon, kNoon}};
    }

    std::vector<SlotReply> execute(std::span<const SlotCommand> commands) override {
        {
            const std::lock_guard lock{mutex_};
            batches.push_back(commands.size());
        }
        std::vector<SlotReply> replies;
        for (const SlotCommand& command : commands) {
            replies.push_back(answer(command));
        }
        return replies;
    }
    std::function<Result<SlotStory, SlotError>(const EventId&)> look =
        [](const EventId&) -> Result<SlotStory, SlotError> { return Unexpected{nothing()}; };
    Result<SlotStory, SlotError> find(const EventId& event_id) override { return look(event_id); }
    Result<void, SlotError> show_windows(const ConfigName&, const Look&) override {
        return Unexpected{nothing()};
    }
    Result<Instant, SlotError> time() override { return kNoon; }
    Result<ConfigVersion, SlotError> put_config(const ConfigDraft&) override { return Unexpected{nothing()}; }
    Result<ConfigVersion, SlotError> active_config(const ConfigName&) override {
        return Unexpected{nothing()};
    }
    Result<std::vector<ConfigVersion>, SlotError> config_history(const ConfigName&) override {
        return Unexpected{nothing()};
    }
    Result<std::vector<ConfigVersion>, SlotError> active_configs() override { return Unexpected{nothing()}; }
    void flush_config_cache() override {}
    bool available() override { return true; }

private:
    std::mutex mutex_;
    static SlotError nothing() { return {SlotFault::Unavailable, "Not scripted."}; }
};

class SlotServiceTest : public testing::Test {
protected:
    void TearDown() override { gate_.let_go(); }  // Also when an expectation failed before.

    SlotService& start(SlotServiceOptions options = {}) {
        return service_.emplace(options, SlotServiceWorld{scripted_, metrics_, log_, *runtime_});
    }
    SlotService& start_on(SlotStore& store) {
        return service_.emplace(SlotServiceOptions{}, SlotServiceWorld{store, metrics_, log_, *runtime_});
    }

    // What a call completes with.
    template <class T, class Call>
    static T awaited(Call call) {
        std::promise<T> answered;
        call([&](T answer) { answered.set_value(std::move(answer)); });
        return answered.get_future().get();
    }
    AllOutcome run(AssignAll all) {
        return awaited<AllOutcome>(
            [&](SlotService::AllDone done) { service_->assign_all(std::move(all.events), std::move(done)); });
    }
    EachOutcome run(AssignEach each, WhenFull when_full = WhenFull::Refuse) {
        return awaited<EachOutcome>([&](SlotService::EachDone done) {
            service_->assign_each(std::move(each.events), std::move(done), when_full);
        });
    }
    SlotOutcome run(AssignSlot command, WhenFull when_full = WhenFull::Refuse) {
        return awaited<SlotOutcome>([&](SlotService::Done<Granted> done) {
            service_->assign(std::move(command), std::move(done), when_full);
        });
    }
    Result<SlotStory, SlotError> find(std::string_view id) {
        return awaited<Result<SlotStory, SlotError>>(
            [&](SlotService::Done<SlotStory> done) { service_->find(event(id), std::move(done)); });
    }
    bool assigns(std::string_view id) { return assign_one(id).has_value(); }
    SlotOutcome assign_one(std::string_view id, Instant requested = kNoon) {
        return run(assign(id, "a", SlotAsk{requested}));
    }

    // Lets the worker stand inside the store, with `waiting` more commands behind it.
    void hold(std::size_t waiting) {
        scripted_.answer = [this](const SlotCommand& command) -> SlotReply {
            const EventId& id = std::get<AssignSlot>(command).event_id;
            if (id == event("held")) {
                gate_.pass();
            }
            return SlotOutcome{ScriptedStore::granted(id.text())};
        };
        service_->assign(assign("held", "a", SlotAsk{kNoon}), [](const SlotOutcome&) {});
        gate_.await_arrival();
        for (std::size_t i = 0; i < waiting; ++i) {
            service_->assign(assign(event(i), "a", SlotAsk{kNoon}), [this](const SlotOutcome&) { ++done_; });
        }
    }

    // The sum of all lines "<prefix>N more slots, not listed".
    [[nodiscard]] std::size_t left_out(const std::string& prefix) const {
        std::size_t sum = 0;
        for (const std::string& line : log_.lines()) {
            if (line.starts_with(prefix) && line.ends_with(" more slots, not listed")) {
                sum += std::stoul(line.substr(prefix.size()));
            }
        }
        return sum;
    }

    const std::unique_ptr<Runtime> runtime_ = make_machine_runtime();
    HandClock clock_{kNoon};
    CountingMetrics metrics_;
    RecordingLog log_;
    ScriptedStore scripted_;
    test::Gate gate_;
    std::atomic<std::size_t> done_ = 0;
    std::optional<SlotService> service_;
};

TEST_F(SlotServiceTest, CompletesWithTheReplyOfTheStore) {
    start();

    const SlotOutcome outcome = assign_one("one");

    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->slot.event_id, event("one"));
    EXPECT_EQ(metrics_.commands_run, 1U);
    EXPECT_EQ(metrics_.negative_durations, 0U);
}

TEST_F(SlotServiceTest, ServesManyCommandsByOneCallOfTheStore) {
    start();
    hold(50);

    gate_.let_go();
    service_->stop();

    EXPECT_EQ(scripted_.batches, (std::vector<std::size_t>{1, 50}));
    EXPECT_EQ(metrics_.batches, 2U);
    EXPECT_EQ(metrics_.commands_run, 51U);
    EXPECT_EQ(done_, 50U);
}

TEST_F(SlotServiceTest, AnswersOverloadedAtOnceWhenTooMuchWaits) {
    start({.batch_max = 1, .queue_max = 4});
    hold(4);

    const SlotOutcome outcome = assign_one("late");

    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().fault, SlotFault::Overloaded);
    EXPECT_EQ(metrics_.refused_count, 1U);
    EXPECT_EQ(done_, 0U);
    gate_.let_go();
}

TEST_F(SlotServiceTest, CountsEveryEventOfAnAllOrNothingCommandAsWaiting) {
    start({.batch_max = 1, .queue_max = 4});
    hold(2);
    const AssignAll all{{assign("x", "a", SlotAsk{kNoon}), assign("y", "a", SlotAsk{kNoon}),
                         assign("z", "a", SlotAsk{kNoon})}};

    const auto outcome = run(all);

    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().event_id, event("x"));
    EXPECT_EQ(outcome.error().error.fault, SlotFault::Overloaded);
    gate_.let_go();
}

TEST_F(SlotServiceTest, RefusesEveryEventOfABulkCommandThatDoesNotFit) {
    start({.batch_max = 1, .queue_max = 4});
    hold(2);
    const AssignEach each{{assign("x", "a", SlotAsk{kNoon}), assign("y", "a", SlotAsk{kNoon}),
                           assign("z", "a", SlotAsk{kNoon})}};

    const auto outcomes = run(each);

    ASSERT_EQ(outcomes.size(), 3U);
    for (const SlotOutcome& outcome : outcomes) {
        ASSERT_FALSE(outcome);
        EXPECT_EQ(outcome.error().fault, SlotFault::Overloaded);
    }
}

// In parts, so that others have their turns between them.
TEST_F(SlotServiceTest, AnswersMoreEventsThanOneCommandTakesInTheirOrder) {
    const auto store = make_slot_ledger(make_memory_slot_tables(), {}, {clock_, metrics_, log_});
    ASSERT_TRUE(store->put_config(draft("a", 1000, 4s)));
    start_on(*store);
    AssignEach each;
    for (std::size_t i = 0; i < 600; ++i) {
        each.events.push_back(assign(event(i), i == 555 ? "nowhere" : "a", SlotAsk{kNoon}));
    }

    const EachOutcome outcomes = run(each, WhenFull::WaitForRoom);

    ASSERT_EQ(outcomes.size(), 600U);
    for (std::size_t i = 0; i < 600; ++i) {
        ASSERT_EQ(outcomes[i].has_value(), i != 555);
        ASSERT_TRUE(i == 555 || outcomes[i]->slot.event_id == event(i));
    }
    EXPECT_EQ(metrics_.batches, 3U);
    EXPECT_TRUE(run(AssignEach{}, WhenFull::WaitForRoom).empty());
}

TEST_F(SlotServiceTest, RefusesTheRestOfManyEventsWhenStopped) {
    scripted_.answer = [this](const SlotCommand& command) -> SlotReply {
        if (const auto* part = std::get_if<AssignEach>(&command)) {
            gate_.pass();
            return EachOutcome(part->events.size(), SlotOutcome{ScriptedStore::granted("each")});
        }
        return SlotOutcome{ScriptedStore::granted("probe")};
    };
    start({.queue_max = 1'000'000'000});
    std::promise<EachOutcome> answered;
    service_->assign_each(
        std::vector<AssignSlot>(600, assign("x", "a", SlotAsk{kNoon})),
        [&](EachOutcome all) { answered.set_value(std::move(all)); }, WhenFull::WaitForRoom);
    gate_.await_arrival();

    std::jthread stopping{[this] { service_->stop(); }};
    std::atomic<bool> refuses = false;
    while (!refuses) {
        service_->assign(assign("probe", "a", SlotAsk{kNoon}), [&](const SlotOutcome& outcome) {
            if (!outcome) {
                refuses = true;
            }
        });
        std::this_thread::yield();
    }
    gate_.let_go();

    const EachOutcome outcomes = answered.get_future().get();
    stopping.join();
    ASSERT_EQ(outcomes.size(), 600U);
    EXPECT_TRUE(outcomes[255]);
    EXPECT_EQ(outcomes[256].error().fault, SlotFault::Overloaded);
    EXPECT_EQ(outcomes[599].error().fault, SlotFault::Overloaded);
}

TEST_F(SlotServiceTest, DropsACommandWhosePatienceIsOverBeforeItRuns) {
    start({.patience = -1ms});

    const SlotOutcome outcome = assign_one("late");
    service_->stop();

    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().fault, SlotFault::Overloaded);
    EXPECT_EQ(metrics_.refused_count, 1U);
    EXPECT_TRUE(scripted_.batches.empty());
}

TEST_F(SlotServiceTest, HasNoDeadlineForWhoWaitsForRoom) {
    start({.patience = -1ms});

    const auto outcome = run(assign("x", "a", SlotAsk{kNoon}), WhenFull::WaitForRoom);

    EXPECT_TRUE(outcome);
}

TEST_F(SlotServiceTest, RunsQueriesBesideCommands) {
    start();
    hold(0);
    scripted_.look = [](const EventId& id) -> Result<SlotStory, SlotError> {
        return SlotStory{ScriptedStore::granted(id.text()).slot, config("a"), {}};
    };

    const auto story = find("x");

    ASSERT_TRUE(story);
    EXPECT_EQ(story->slot.event_id, event("x"));
    gate_.let_go();
}

TEST_F(SlotServiceTest, RefusesAQueryWhenTooManyWait) {
    std::atomic<std::size_t> ran = 0;
    scripted_.look = [&](const EventId& id) -> Result<SlotStory, SlotError> {
        ++ran;
        if (id == event("held")) {
            gate_.pass();
        }
        return SlotStory{ScriptedStore::granted(id.text()).slot, config("a"), {}};
    };
    start({.queries_max = 1});
    std::promise<void> answered;
    service_->find(event("held"), [](const Result<SlotStory, SlotError>&) {});
    gate_.await_arrival();
    service_->find(event("waits"), [&](const Result<SlotStory, SlotError>&) { answered.set_value(); });

    const auto refused = find("late");

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().fault, SlotFault::Overloaded);
    EXPECT_EQ(ran, 1U);
    gate_.let_go();
    answered.get_future().get();
}

TEST_F(SlotServiceTest, FinishesWhatItAcceptedAndRefusesTheRestWhenStopped) {
    start();
    hold(10);
    gate_.let_go();

    service_->stop();

    EXPECT_EQ(done_, 10U);
    EXPECT_EQ(assign_one("late").error().fault, SlotFault::Overloaded);
    const auto refused = find("late");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().fault, SlotFault::Overloaded);
}

TEST_F(SlotServiceTest, CountsContention) {
    start();
    scripted_.answer = [](const SlotCommand&) -> SlotReply {
        return SlotOutcome{Unexpected{SlotError{SlotFault::Contended, "Held by others."}}};
    };

    EXPECT_FALSE(assigns("x"));

    EXPECT_EQ(metrics_.contended_count, 1U);
    EXPECT_EQ(metrics_.exhausted_count, 0U);
}

TEST_F(SlotServiceTest, MeasuresAndLogsWhatBecameOfEachEvent) {
    log_.show_from(LogLevel::Debug);
    const auto store = make_slot_ledger(make_memory_slot_tables(), {}, {clock_, metrics_, log_});
    ASSERT_TRUE(store->put_config(looking_ahead(1, draft("a", 1, 4s))));
    start_on(*store);

    EXPECT_TRUE(assigns("one"));
    EXPECT_TRUE(assigns("two"));
    EXPECT_EQ(metrics_.last_depth, 1);
    EXPECT_TRUE(assigns("one"));
    EXPECT_FALSE(assigns("three"));

    EXPECT_EQ(metrics_.assigned_count, 2U);
    EXPECT_EQ(metrics_.repeated_count, 1U);
    EXPECT_EQ(metrics_.exhausted_count, 1U);
    EXPECT_EQ(
        log_.lines(),
        (std::vector<std::string>{
            "INFO RateLimitConfigRepository - Config updated: a maxPerWindow=none->1",
            "INFO SlotAssignmentService - Assigned slot for eventId=one in window=2025-06-01T12:00:00.000Z",
            "INFO SlotAssignmentService - Assigned slot for eventId=two in window=2025-06-01T12:00:04.000Z",
            "DEBUG SlotAssignmentService - Idempotent hit for eventId=one",
            "ERROR SlotAssignmentService - Could not assign slot for event three, searched 2 windows"}));
}

TEST_F(SlotServiceTest, MeasuresEveryEventOfAnAllOrNothingCommand) {
    const auto store = make_slot_ledger(make_memory_slot_tables(), {}, {clock_, metrics_, log_});
    ASSERT_TRUE(store->put_config(looking_ahead(0, draft("a", 2, 4s))));
    start_on(*store);

    EXPECT_TRUE(run(AssignAll{{assign("x", "a", SlotAsk{kNoon}), assign("x", "a", SlotAsk{kNoon})}}));
    EXPECT_FALSE(run(AssignAll{{assign("y", "a", SlotAsk{kNoon}), assign("z", "a", SlotAsk{kNoon})}}));

    EXPECT_EQ(metrics_.assigned_count, 1U);
    EXPECT_EQ(metrics_.repeated_count, 1U);
    EXPECT_EQ(metrics_.exhausted_count, 1U);
    EXPECT_TRUE(
        log_.has("ERROR SlotAssignmentService - Could not assign slot for event z, searched 1 windows"));
}

TEST_F(SlotServiceTest, MeasuresEveryEventOfABulkCommand) {
    const auto store = make_slot_ledger(make_memory_slot_tables(), {}, {clock_, metrics_, log_});
    ASSERT_TRUE(store->put_config(looking_ahead(0, draft("a", 1, 4s))));
    start_on(*store);

    const SlotAsk ask{kNoon};
    run(AssignEach{
        {assign("x", "a", ask), assign("x", "a", ask), assign("y", "a", ask), assign("z", "a", ask)}});

    EXPECT_EQ(metrics_.assigned_count, 1U);
    EXPECT_EQ(metrics_.repeated_count, 1U);
    EXPECT_EQ(metrics_.exhausted_count, 2U);
    EXPECT_TRUE(
        log_.has("ERROR SlotAssignmentService - Could not assign slot for event y, searched 1 windows"));
}

TEST_F(SlotServiceTest, LogsTheChangeOfAConfigWithBothCaps) {
    const auto store = make_slot_ledger(make_memory_slot_tables(), {}, {clock_, metrics_, log_});

    ASSERT_TRUE(store->put_config(draft("a", 50, 4s)));
    ASSERT_TRUE(store->put_config(draft("a", 80, 4s)));

    EXPECT_TRUE(log_.has("INFO RateLimitConfigRepository - Config updated: a maxPerWindow=50->80"));
}

constexpr std::string_view kAssignedLine = "INFO SlotAssignmentService - Assigned slot for eventId=";

TEST_F(SlotServiceTest, ListsAtMostAHundredAssignmentsASecond) {
    const auto began = std::chrono::steady_clock::now();
    start();
    for (std::size_t i = 0; i < 5000; ++i) {
        service_->assign(assign(event(i), "a", SlotAsk{kNoon}), [](const SlotOutcome&) {});
    }
    service_->stop();

    const auto seconds = std::chrono::ceil<std::chrono::seconds>(std::chrono::steady_clock::now() - began);
    const std::size_t lines = log_.count_starting(kAssignedLine);
    EXPECT_EQ(metrics_.assigned_count, 5000U);
    EXPECT_GE(lines, 100U);
    EXPECT_LE(lines, 100U * static_cast<std::size_t>(seconds.count()));
    EXPECT_EQ(lines + left_out("INFO SlotAssignmentService - Assigned "), 5000U) << "the rest is counted";
}

TEST_F(SlotServiceTest, ListsAtMostAHundredFailuresASecond) {
    const auto began = std::chrono::steady_clock::now();
    start();
    scripted_.answer = [](const SlotCommand&) -> SlotReply {
        return SlotOutcome{Unexpected{SlotError{SlotFault::Exhausted, "Full.", 3}}};
    };
    for (std::size_t i = 0; i < 5000; ++i) {
        service_->assign(assign(event(i), "a", SlotAsk{kNoon}), [](const SlotOutcome&) {});
    }
    service_->stop();

    const auto seconds = std::chrono::ceil<std::chrono::seconds>(std::chrono::steady_clock::now() - began);
    const std::size_t lines =
        log_.count_starting("ERROR SlotAssignmentService - Could not assign slot for event ");
    EXPECT_EQ(metrics_.exhausted_count, 5000U);
    EXPECT_LE(lines, 100U * static_cast<std::size_t>(seconds.count()));
    EXPECT_EQ(lines + left_out("ERROR SlotAssignmentService - Could not assign "), 5000U);
}

TEST_F(SlotServiceTest, ListsEveryAssignmentAtLevelDebug) {
    log_.show_from(LogLevel::Debug);
    start();
    for (std::size_t i = 0; i < 500; ++i) {
        service_->assign(assign(event(i), "a", SlotAsk{kNoon}), [](const SlotOutcome&) {});
    }
    service_->stop();

    EXPECT_EQ(log_.count_starting(kAssignedLine), 500U);
}

TEST_F(SlotServiceTest, ListsNoAssignmentAboveLevelInfo) {
    log_.show_from(LogLevel::Warn);
    start();

    EXPECT_TRUE(assigns("x"));

    EXPECT_TRUE(log_.lines().empty());
}

// Both workers stand inside the store; then one goes on, with a cancel and an assignment waiting.
TEST_F(SlotServiceTest, ABlockedCancelKeepsNoAssignmentWaiting) {
    test::Gate cancels;
    scripted_.answer = [&](const SlotCommand& command) -> SlotReply {
        if (std::holds_alternative<CancelSlot>(command)) {
            cancels.pass();
            return SlotOutcome{ScriptedStore::granted("cancelled")};
        }
        const EventId& id = std::get<AssignSlot>(command).event_id;
        if (id == event("held")) {
            gate_.pass();
        }
        return SlotOutcome{ScriptedStore::granted(id.text())};
    };
    start({.workers = 2});
    for (int i = 0; i < 2; ++i) {
        service_->assign(assign("held", "a", SlotAsk{kNoon}), [](const SlotOutcome&) {});
        gate_.await_arrival();
    }
    std::promise<void> assigned;
    service_->cancel(event("x"), [](const SlotOutcome&) {});
    service_->assign(assign("y", "a", SlotAsk{kNoon}), [&](const SlotOutcome&) { assigned.set_value(); });

    gate_.let_go();

    EXPECT_EQ(assigned.get_future().wait_for(10s), std::future_status::ready);
    cancels.let_go();
    gate_.let_go();
    service_->stop();
}

}  // namespace
}  // namespace sluice
