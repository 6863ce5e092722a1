#pragma once

#include <chrono>

#include "app/combiner.hpp"
#include "app/slots/slot_observer.hpp"
#include "app/slots/slot_store.hpp"
#include "base/log.hpp"

namespace sluice {

struct SlotServiceOptions {
    std::size_t batch_max = 256;               // Commands that one write serves.
    std::size_t queue_max = 65536;             // Events that may wait; more than the largest batch.
    std::chrono::milliseconds patience{5000};  // How long a command may wait for its turn.
    std::size_t queries_max = 1024;            // Queries that may wait.
};

// What surrounds the service. All of it outlives the service.
struct SlotServiceWorld {
    SlotStore& store;
    SlotMetrics& metrics;
    Log& log;
};

// The use cases of slots, for every door. Commands are combined into batches for the store; queries run one
// by one beside them. Nothing here blocks the caller; completions run on a thread of the service.
// Thread safety: all of it.
class SlotService {
public:
    SlotService(SlotServiceOptions options, SlotServiceWorld world);

    using CommandDone = UniqueFunction<void(SlotReply)>;
    // The largest number of events that one command may carry.
    static constexpr std::size_t kEventsMax = 10'000;

    // Completes with the store's reply, or with Overloaded when the command was not run.
    void execute(SlotCommand command, CommandDone done, WhenFull when_full = WhenFull::Refuse);

    using Query = UniqueFunction<void(SlotStore&)>;
    // Runs `query` on a thread that may block, then `done`: with an error, and without the query, when too
    // many wait.
    void ask(Query query, UniqueFunction<void(std::optional<SlotError>)> done);

    // Refuses new work and returns when all that was accepted is done.
    void stop();

private:
    using SteadyTime = std::chrono::steady_clock::time_point;
    struct Submission {
        SlotCommand command;
        SteadyTime arrived;
    };

    std::vector<SlotReply> run(std::span<Submission> batch);
    void observe(const Submission& submission, const SlotReply& reply, SteadyTime now);
    void observe(const SlotOutcome& outcome, const EventId& event_id, std::chrono::nanoseconds took);
    void log_assigned(const Slot& slot);

    const SlotServiceOptions options_;
    const SlotServiceWorld world_;
    // The per-assignment line is written for the first hundred of a second only. Used by the one worker.
    SteadyTime log_second_{};
    std::size_t logged_in_second_ = 0;
    std::size_t not_logged_ = 0;
    Combiner<Submission, SlotReply> commands_;
    Combiner<Query, std::monostate> queries_;
};

}  // namespace sluice
