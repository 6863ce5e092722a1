#include <map>
#include <memory>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <rocksdb/env.h>

#include "app/slots/slot_ledger.hpp"
#include "store/memory/memory_slot_tables.hpp"
#include "support/command_stream.hpp"
#include "support/counting_metrics.hpp"
#include "support/recording_log.hpp"
#include "support/rocks_tables.hpp"
#include "support/shared_tables.hpp"
#include "support/slot_words.hpp"

namespace sluice::test {
namespace {

// A ledger with its clock, over tables that can be looked into.
class World {
public:
    explicit World(std::shared_ptr<SlotTables> tables)
        : tables_{std::move(tables)},
          ledger_{make_slot_ledger(std::make_unique<SharedTables>(tables_), LedgerOptions{.seed = 5},
                                   {clock_, metrics_, log_})} {}

    std::vector<std::string> run(const std::vector<Step>& steps, const StreamOptions& options) {
        return run_stream(steps, *ledger_, clock_, options);
    }
    SlotStore& ledger() { return *ledger_; }
    [[nodiscard]] std::vector<std::string> differences() const {
        return recount(*tables_).value().differences;
    }

private:
    HandClock clock_{kNoon - 24h};
    CountingMetrics metrics_;
    RecordingLog log_{LogLevel::Error};
    std::shared_ptr<SlotTables> tables_;
    std::unique_ptr<SlotStore> ledger_;
};

// Cuts a stream into batches of random sizes, the same for the same seed.
StreamOptions batches(std::uint64_t seed) {
    StreamOptions options;
    options.cut = [random = Random{seed}]() mutable { return random.below(8) == 0; };
    return options;
}

// The last slot that each event was granted.
class Promises {
public:
    void keep(const SlotReply& reply) {
        if (const auto* one = std::get_if<SlotOutcome>(&reply)) {
            keep_outcome(*one);
        } else if (const auto* each = std::get_if<EachOutcome>(&reply)) {
            for (const SlotOutcome& outcome : *each) {
                keep_outcome(outcome);
            }
        } else if (const auto& all = std::get<AllOutcome>(reply); all) {
            for (const Granted& granted : *all) {
                keep_granted(granted);
            }
        }
    }

    void check(SlotStore& store) const {
        for (const auto& [id, slot] : last_) {
            RC_ASSERT(store.find(id).value().slot == slot);
            const SlotOutcome again = run_one(store, assign(id, "nowhere", SlotAsk{kNoon}));
            if (slot.state == SlotState::Cancelled) {
                RC_ASSERT(again.error().fault == SlotFault::Cancelled);
            } else {
                RC_ASSERT(again.value().slot == slot);
            }
        }
    }

private:
    void keep_outcome(const SlotOutcome& outcome) {
        if (outcome) {
            keep_granted(*outcome);
        }
    }
    void keep_granted(const Granted& granted) {
        const auto known = last_.find(granted.slot.event_id);
        if (granted.repeated) {
            RC_ASSERT(known != last_.end());
            RC_ASSERT(known->second == granted.slot);
        }
        last_.insert_or_assign(granted.slot.event_id, granted.slot);
    }

    std::map<EventId, Slot> last_;
};

RC_GTEST_PROP(SlotLedgerProperty, KeepsItsCountersEqualToTheirRecountAndItsWord, ()) {
    const auto steps = *any_steps();
    World world{make_memory_slot_tables()};
    Promises promises;
    StreamOptions options = batches(*rc::gen::inRange<std::uint64_t>(0, 1000));
    options.after_batch = [&](const auto&, const std::vector<SlotReply>& replies) {
        for (const SlotReply& reply : replies) {
            promises.keep(reply);
        }
        RC_ASSERT(world.differences().empty());
    };

    world.run(steps, options);

    promises.check(world.ledger());
    RC_ASSERT(world.differences().empty());
}

// The cap of the moment, not only the highest ever: looked at after each single command.
RC_GTEST_PROP(SlotLedgerProperty, NeverExceedsTheCapInForce, ()) {
    const auto steps = *any_steps();
    World world{make_memory_slot_tables()};
    StreamOptions options;
    options.after_batch = [&](const std::vector<SlotCommand>& commands,
                              const std::vector<SlotReply>& replies) {
        if (commands.empty() || !std::holds_alternative<AssignSlot>(commands[0])) {
            return;
        }
        const SlotOutcome& outcome = std::get<SlotOutcome>(replies.at(0));
        if (!outcome || outcome->repeated) {
            return;
        }
        const Slot& slot = outcome->slot;
        const auto& assignment = std::get<AssignSlot>(commands[0]);
        const auto report =
            world.ledger().windows(assignment.config_name, {slot.scheduled, slot.scheduled + 1ms}).value();
        RC_ASSERT(report.windows.size() == 1U);
        RC_ASSERT(report.windows[0].start == slot.window_start);
        RC_ASSERT(report.windows[0].count <= report.max);
        RC_ASSERT(slot.scheduled >= slot.requested);
        RC_ASSERT(!slot.max_delay || slot.delay() <= *slot.max_delay);
    };

    world.run(steps, options);
}

RC_GTEST_PROP(SlotLedgerProperty, AnswersABatchAsItAnswersItsCommandsOneByOne, ()) {
    const auto steps = *any_steps();
    World one_by_one{make_memory_slot_tables()};
    World in_batches{make_memory_slot_tables()};

    RC_ASSERT(in_batches.run(steps, batches(*rc::gen::inRange<std::uint64_t>(0, 1000))) ==
              one_by_one.run(steps, {}));
}

// Files in memory: what is compared is the meaning of the rows, and thousands of commits take no time.
RC_GTEST_PROP(SlotLedgerProperty, AnswersAlikeOverRocksAndOverMemory, ()) {
    const auto steps = *any_steps();
    const std::unique_ptr<rocksdb::Env> files{rocksdb::NewMemEnv(rocksdb::Env::Default())};
    World memory{make_memory_slot_tables()};
    World rocks{open_rocks_tables({"/slots", files.get()}).value()};

    const auto expected = memory.run(steps, batches(*rc::gen::inRange<std::uint64_t>(0, 1000)));

    RC_ASSERT(rocks.run(steps, batches(*rc::gen::inRange<std::uint64_t>(0, 1000))) == expected);
    RC_ASSERT(rocks.differences().empty());
}

}  // namespace
}  // namespace sluice::test
