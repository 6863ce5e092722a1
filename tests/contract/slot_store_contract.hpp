#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/slots/slot_ledger.hpp"
#include "support/counting_metrics.hpp"
#include "support/hand_clock.hpp"
#include "support/recording_log.hpp"
#include "support/slot_words.hpp"

namespace sluice::test {

// What a store under test is made of, besides itself.
struct StoreSurroundings {
    HandClock clock{kNoon - 1h};
    CountingMetrics metrics;
    RecordingLog log;
};

struct StoreSettings {
    bool strict = false;
    std::uint64_t seed = 1;
    std::optional<Duration> retention{};
};

// A store and what it keeps. Stores join the contract by implementing this.
class StoreUnderTest {
public:
    virtual ~StoreUnderTest() = default;
    virtual SlotStore& store() = 0;
    // Ends the store and starts it again on what is durable.
    virtual void restart() = 0;
    // Counts all that is stored again; REQUIRES: nothing runs meanwhile.
    virtual RecountReport recount_all() = 0;
};

struct StoreKind {
    std::string name;
    // Null when the server that the store needs was not started.
    std::function<std::unique_ptr<StoreUnderTest>(StoreSettings, StoreSurroundings&)> make;
    std::size_t round_trips = 1;  // Long tests are shorter by this factor where each step asks a server.
};
inline void PrintTo(const StoreKind& kind, std::ostream* out) { *out << kind.name; }

// The value of a result that a test cannot go on without.
template <class T>
T must(Result<T, SlotError> result) {
    if (!result) {
        throw std::runtime_error{"the store refused: " + result.error().detail};
    }
    return std::move(result).value();
}

// What every SlotStore promises. After each test all counters must equal their recount.
class SlotStoreContract : public testing::TestWithParam<StoreKind> {
protected:
    void SetUp() override {
        open({});
        if (world_ == nullptr) {
            GTEST_SKIP() << "the server that this store needs is not there; tools/services starts it";
        }
    }
    void TearDown() override {
        if (world_ != nullptr) {
            EXPECT_THAT(world_->recount_all().differences, testing::IsEmpty());
        }
    }

    void open(StoreSettings settings) {
        world_.reset();
        world_ = GetParam().make(settings, around_);
    }

    SlotStore& store() { return world_->store(); }

    ConfigVersion put(const ConfigDraft& draft) { return must(store().put_config(draft)); }
    SlotOutcome run(SlotCommand command) { return run_one(store(), std::move(command)); }
    // REQUIRES: it succeeds.
    Slot take(std::string_view id, std::string_view config_name, SlotAsk ask) {
        return must(run(assign(id, config_name, ask))).slot;
    }
    // Takes `count` places for events <prefix>0, <prefix>1, ... in one batch. REQUIRES: all succeed.
    std::vector<Slot> take_many(std::size_t count, const std::string& prefix, std::string_view config_name,
                                SlotAsk ask) {
        std::vector<SlotCommand> commands;
        for (std::size_t i = 0; i < count; ++i) {
            commands.emplace_back(assign(prefix + std::to_string(i), config_name, ask));
        }
        std::vector<Slot> slots;
        for (SlotReply& reply : store().execute(commands)) {
            slots.push_back(must(std::get<SlotOutcome>(std::move(reply))).slot);
        }
        return slots;
    }
    std::optional<SlotFault> fault_of(SlotCommand command) {
        const SlotOutcome outcome = run(std::move(command));
        return outcome ? std::nullopt : std::optional{outcome.error().fault};
    }

    bool knows(std::string_view id) { return store().find(event(id)).has_value(); }
    // A store looks for what is too old when it starts, and when a command comes.
    void start_again_after(Duration time) {
        around_.clock.advance(time);
        world_->restart();
        static_cast<void>(run(CancelSlot{event("nobody")}));
    }
    // Stores forget in their own time. False: the event is still known after one that a busy machine keeps.
    bool forgets(std::string_view id) {
        const auto deadline = std::chrono::steady_clock::now() + 20s;
        while (knows(id) && std::chrono::steady_clock::now() < deadline) {
            std::this_thread::yield();
        }
        return !knows(id);
    }

    // What the windows from `from` on hold, as many as asked for.
    std::vector<Places> counts(std::string_view config_name, Instant from, std::int64_t windows) {
        const Duration size = must(store().active_config(config(config_name))).terms.window_size;
        const auto report = must(store().windows(config(config_name), {from, from + size * windows}));
        std::vector<Places> result;
        for (const WindowFill& fill : report.windows) {
            result.push_back(fill.count);
        }
        return result;
    }

    StoreSurroundings around_;
    std::unique_ptr<StoreUnderTest> world_;
};

}  // namespace sluice::test
