// The service of slots in one thread on virtual time, over a ledger whose store is slow, fails and is full
// for a while, until it is shut down in the middle of something.
#include <set>

#include <gtest/gtest.h>

#include "app/slots/slot_ledger.hpp"
#include "app/slots/slot_service.hpp"
#include "store/memory/memory_slot_tables.hpp"
#include "support/counting_metrics.hpp"
#include "support/faulty_tables.hpp"
#include "support/recording_log.hpp"
#include "support/simulation.hpp"
#include "support/slot_words.hpp"

namespace sluice::test {
namespace {

// Since the beginning: the store is well, stands still, is well, fails, is full, and is well again.
constexpr Wait kStall = 200ms;
constexpr Wait kStallEnd = 700ms;
constexpr Wait kFailing = 900ms;
constexpr Wait kFull = 1'200ms;
constexpr Wait kWell = 1'300ms;
constexpr Wait kEnd = 2'000ms;
constexpr Wait kRecovered = kWell + 210ms;  // A ledger that has failed tries again after 200 ms.

constexpr SlotServiceOptions kOptions{
    .batch_max = 8, .queue_max = 25, .patience = 150ms, .queries_max = 10, .workers = 1};
constexpr int kClients = 10;

// The time of day, as the clock of the simulation has it.
class WallClock final : public Clock {
public:
    explicit WallClock(const HandMomentClock& clock) : clock_{clock} {}
    [[nodiscard]] Instant now() const override { return std::chrono::floor<Duration>(clock_.now()); }

private:
    const HandMomentClock& clock_;
};

// A ledger behind a slow way.
class Way final : public SlotStore {
public:
    Way(VirtualRuntime& runtime, Story& story, SlotStore& ledger, std::uint64_t seed)
        : runtime_{runtime}, story_{story}, ledger_{ledger}, random_{seed} {}

    std::vector<SlotReply> execute(std::span<const SlotCommand> commands) override {
        for (const SlotCommand& command : commands) {
            begun.emplace(std::get<AssignSlot>(command).event_id.text(), story_.now());
        }
        travel();
        if (story_.now() >= kFull && story_.now() < kWell) {
            return std::vector<SlotReply>(commands.size(),
                                          SlotOutcome{Unexpected{SlotError{SlotFault::StoreFull, "Full."}}});
        }
        return ledger_.execute(commands);
    }
    Result<SlotStory, SlotError> find(const EventId& event_id) override {
        travel();
        return ledger_.find(event_id);
    }
    Result<void, SlotError> show_windows(const ConfigName& name, const Look& look) override {
        return ledger_.show_windows(name, look);
    }
    Result<Instant, SlotError> time() override { return ledger_.time(); }
    Result<ConfigVersion, SlotError> put_config(const ConfigDraft& draft) override {
        return ledger_.put_config(draft);
    }
    Result<ConfigVersion, SlotError> active_config(const ConfigName& name) override {
        return ledger_.active_config(name);
    }
    Result<std::vector<ConfigVersion>, SlotError> config_history(const ConfigName& name) override {
        return ledger_.config_history(name);
    }
    Result<std::vector<ConfigVersion>, SlotError> active_configs() override {
        return ledger_.active_configs();
    }
    void flush_config_cache() override { ledger_.flush_config_cache(); }
    bool available() override { return ledger_.available(); }

    std::map<std::string, Wait> begun;  // When the store was first asked for an event.
    Wait last_call{};

private:
    void travel() {
        last_call = story_.now();
        runtime_.sleep(Wait{500 + random_.below(2'000)});
        if (story_.now() >= kStall && story_.now() < kStallEnd) {
            runtime_.sleep(kStallEnd - story_.now());
        }
    }

    VirtualRuntime& runtime_;
    Story& story_;
    SlotStore& ledger_;
    Random random_;
};

std::string word_for(const SlotError& error) {
    switch (error.fault) {
        case SlotFault::Overloaded: return "overloaded";
        case SlotFault::Unavailable: return "unavailable";
        case SlotFault::StoreFull: return "full";
        case SlotFault::UnknownEvent: return "unknown";
        default: return "another fault: " + error.detail;
    }
}

// A world of its own, which the seed determines alone.
class SlotSimulation {
public:
    explicit SlotSimulation(std::uint64_t seed)
        : random_{seed + 1'000},
          runtime_{seed, clock_},
          stop_at_{Wait{100'000 + random_.below(2'200'000)}},
          way_{runtime_, story_, *ledger_, seed} {}

    void live() {
        ASSERT_TRUE(ledger_->put_config(draft("a", 10, 4s)));
        SlotService service{kOptions, {way_, metrics_, log_, runtime_}};
        std::unique_ptr<Timer> weather;
        weather = runtime_.timer([&] {
            change_weather();
            weather->set(story_.now() < kFull ? runtime_.now() + (kFull - kFailing) : SteadyTime::max());
        });
        weather->set(runtime_.now() + kFailing);
        const auto clients = runtime_.hire(kClients);
        for (int client = 0; client < kClients; ++client) {
            clients->post([this, &service, client] { ask_on(service, client); });
        }
        runtime_.sleep(stop_at_);
        story_.tell("stop");
        service.stop();
        story_.tell("stopped");
        stopped_at_ = story_.now();
        clients->finish();
    }

    [[nodiscard]] const Story& story() const { return story_; }
    [[nodiscard]] Wait stop_at() const { return stop_at_; }

    // What holds in every world.
    void judge() const {
        EXPECT_TRUE(ledger_->available());
        for (const auto& [name, request] : story_.requests()) {
            SCOPED_TRACE(name + " -> " + request.outcome);
            ASSERT_EQ(request.answers, 1);
            if (request.outcome == "overloaded") {
                judge_refusal(request);
            } else {
                judge_answer(name, request);
            }
        }
        EXPECT_LE(way_.last_call, stopped_at_) << "the store was asked after the service had stopped";
        const Wait latest = std::max(stop_at_, stop_at_ >= kStall - 10ms ? kStallEnd : stop_at_);
        EXPECT_LE(stopped_at_ - latest, 60ms) << "what was accepted took too long";
        EXPECT_EQ(recount(*tables_).value().differences, std::vector<std::string>{});
    }

private:
    // Refused at once, or when its patience was over: to the microsecond.
    void judge_refusal(const Story::Request& request) const {
        const Wait waited = request.answered - request.submitted;
        EXPECT_TRUE(waited == Wait{0} || waited == kOptions.patience) << waited.count();
        if (request.submitted < stop_at_) {
            EXPECT_GE(request.answered, kStall) << "there was room";
            EXPECT_LE(request.submitted, kStallEnd + 50ms) << "there was room again";
        }
    }
    void judge_answer(const std::string& name, const Story::Request& request) const {
        EXPECT_LE(request.submitted, name.starts_with("find-") ? stopped_at_ : stop_at_) << "accepted late";
        if (const auto begun = way_.begun.find(name); begun != way_.begun.end()) {
            EXPECT_LT(begun->second - request.submitted, kOptions.patience) << "ran when it was late";
        }
        if (request.outcome == "unavailable") {
            EXPECT_GE(request.answered, kFailing);
            EXPECT_LE(request.submitted, kRecovered) << "did not recover";
        }
        if (request.outcome.starts_with("at ")) {
            const auto found = ledger_->find(event(name));
            ASSERT_TRUE(found) << "what was acknowledged is gone";
            EXPECT_EQ(request.outcome, told(found->slot));
        }
    }

    // Writes fail from kFailing to kFull. What was reported as failed may have been done all the same.
    void change_weather() {
        if (story_.now() < kFull) {
            story_.tell("writes fail");
            const Truth truth = random_.below(2) == 0 ? Truth::NotDone : Truth::DoneAllTheSame;
            tables_->arm({TableCall::Commit, 1, Lasting::UntilHealed, truth});
        } else {
            story_.tell("writes work");
            tables_->heal();
        }
    }

    static std::string told(const Slot& slot) { return "at " + format_instant(slot.scheduled); }

    void ask_on(SlotService& service, int client) {
        for (int number = 0; story_.now() < kEnd + 400ms; ++number) {
            runtime_.sleep(Wait{random_.below(40'000)});
            const std::string name = "c" + std::to_string(client) + "-" + std::to_string(number);
            if (random_.below(6) == 0) {
                look(service, "find-" + name, event("c" + std::to_string(client) + "-0"));
            } else {
                ask(service, name);
            }
        }
    }
    void ask(SlotService& service, const std::string& name) {
        story_.submit(name);
        service.assign(assign(name, "a", {kNoon}), [this, name](const SlotOutcome& outcome) {
            story_.answer(name, outcome ? told(outcome->slot) : word_for(outcome.error()));
        });
    }
    void look(SlotService& service, const std::string& name, EventId id) {
        story_.submit(name);
        service.find(std::move(id), [this, name](const Result<SlotStory, SlotError>& found) {
            story_.answer(name, found ? "found" : word_for(found.error()));
        });
    }

    Random random_;
    HandMomentClock clock_{kNoon};
    WallClock wall_{clock_};
    VirtualRuntime runtime_;
    Story story_{clock_};
    const Wait stop_at_;
    Wait stopped_at_{};
    CountingMetrics metrics_;
    RecordingLog log_{LogLevel::Error};
    std::shared_ptr<FaultyTables> tables_ =
        std::make_shared<FaultyTables>(std::shared_ptr<SlotTables>{make_memory_slot_tables()});
    std::unique_ptr<SlotStore> ledger_ = make_slot_ledger(std::make_unique<SharedTables>(tables_),
                                                          LedgerOptions{.seed = 5}, {wall_, metrics_, log_});
    Way way_;
};

std::string story_of(std::uint64_t seed) {
    SlotSimulation world{seed};
    world.live();
    return world.story().text();
}

TEST(SlotSimulation, KeepsItsPromisesThroughOverloadFailureRecoveryAndShutdown) {
    std::map<std::string, int> seen;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        SlotSimulation world{seed};
        world.live();
        world.judge();
        if (testing::Test::HasFailure()) {
            FAIL() << world.story().text();
        }
        for (const auto& [name, request] : world.story().requests()) {
            const bool is_late = request.answered - request.submitted == kOptions.patience;
            ++seen[request.outcome.starts_with("at ")    ? "granted"
                   : request.outcome != "overloaded"     ? request.outcome
                   : request.submitted > world.stop_at() ? "refused after the stop"
                   : is_late                             ? "expired"
                                                         : "refused"];
        }
        seen["stopped in a stall"] += world.stop_at() > kStall && world.stop_at() < kStallEnd ? 1 : 0;
    }

    for (const char* const what : {"granted", "found", "unavailable", "full", "expired", "refused",
                                   "refused after the stop", "stopped in a stall"}) {
        EXPECT_GT(seen[what], static_cast<int>(kSeeds / 20))
            << what << ": what is tested is too tame to say anything";
    }
}

TEST(SlotSimulation, TellsTheSameStoryForTheSameSeed) {
    std::set<std::string> stories;
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        const std::string story = story_of(seed);
        EXPECT_EQ(story_of(seed), story);
        stories.insert(story);
    }

    EXPECT_EQ(stories.size(), 10U);
}

}  // namespace
}  // namespace sluice::test
