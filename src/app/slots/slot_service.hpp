#pragma once

#include <memory>
#include <mutex>

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
    // How many batches run at once. More than one only for stores that gain by it; commands of one event
    // that wait at the same time may then run in either order. Cancels and moves then have as many workers of
    // their own: one that others keep waiting in the store must not keep assignments.
    std::size_t workers = 1;
};

// What surrounds the service. All of it outlives the service.
struct SlotServiceWorld {
    SlotStore& store;
    SlotMetrics& metrics;
    Log& log;
    Runtime& runtime;
};

// Whether slots can be assigned.
struct SlotReadiness {
    bool ready;
    std::string_view trouble;  // One word for what operators should look at; empty: nothing. Static storage.
};

// The use cases of slots, for every door. Commands are combined into batches for the store; queries run one
// by one beside them. Nothing here blocks the caller; completions run on a worker, by a timer, or within the
// call. What is not run, because too much waits, completes with Overloaded.
// Thread safety: all of it.
class SlotService {
public:
    SlotService(SlotServiceOptions options, SlotServiceWorld world);

    template <class T>
    using Done = UniqueFunction<void(Result<T, SlotError>)>;
    using EachDone = UniqueFunction<void(EachOutcome)>;
    using AllDone = UniqueFunction<void(AllOutcome)>;
    // The largest number of events in one call.
    static constexpr std::size_t kEventsMax = 10'000;

    // A known event gets the slot it has, whatever else is asked, also when that could not be read.
    void assign(AssignSlot event, Done<Granted> done, WhenFull when_full = WhenFull::Refuse);
    // Each for itself, in this order; many of them take turns with others. REQUIRES: at most kEventsMax.
    void assign_each(std::vector<AssignSlot> events, EachDone done, WhenFull when_full);
    // All of them get a slot, or none does. REQUIRES: 1 to kEventsMax.
    void assign_all(std::vector<AssignSlot> events, AllDone done);
    // `by` is who asks, for the audit of the event's work.
    void cancel(EventId event_id, Done<Granted> done, std::string by = {});
    void move(EventId event_id, Instant requested, Done<Granted> done, std::string by = {});

    void find(EventId event_id, Done<SlotStory> done);
    void quote(QuoteRequest request, Done<Slot> done);
    void windows(ConfigName name, TimeRange range, Done<WindowReport> done);

    void put_config(ConfigDraft draft, Done<ConfigVersion> done);
    void active_config(ConfigName name, Done<ConfigVersion> done);
    void config_history(ConfigName name, Done<std::vector<ConfigVersion>> done);  // Newest first.
    void active_configs(Done<std::vector<ConfigVersion>> done);                   // By name.
    void flush_config_cache(Done<std::monostate> done);

    // Asking is also a nudge to recover.
    void readiness(Done<SlotReadiness> done);

    // Refuses new work and returns when all that was accepted is done.
    void stop();

private:
    using Query = UniqueFunction<void(SlotStore&)>;
    struct Submission {
        SlotCommand command;
        SteadyTime arrived;
    };

    struct Bulk;

    // REQUIRES: Outcome answers the command.
    template <class Outcome, class Then>
    void submit(SlotCommand command, Then then, WhenFull when_full = WhenFull::Refuse);
    // Sends the next part of a bulk on its way, if there is one.
    void go_on(const std::shared_ptr<Bulk>& bulk);
    // Lets a thread that may block make the call, which gives a Result<T, SlotError>.
    template <class T, class Call>
    void ask(Call call, Done<T> done);
    std::vector<SlotReply> run(std::span<Submission> batch);
    void observe(const Submission& submission, const SlotReply& reply, SteadyTime now);
    // An event that was answered: after how long, and when.
    struct Seen {
        const EventId& event_id;
        std::chrono::nanoseconds took;
        SteadyTime now;
    };
    void observe(const SlotOutcome& outcome, const Seen& event);
    void log_assigned(const Slot& slot, SteadyTime now);

    const SlotServiceOptions options_;
    const SlotServiceWorld world_;
    // Lines about single events are written for the first hundred of a second only, of each kind; the rest is
    // counted in one line.
    class LineBudget {
    public:
        // True when one more line may be written. `flush` is told how many were not, once a second.
        template <class Flush>
        bool take(SteadyTime now, Flush flush) {
            if (now - second_ >= std::chrono::seconds{1}) {
                give_account(flush);
                second_ = now;
                written_ = 0;
            }
            const bool allowed = written_ < kLinesPerSecond;
            ++(allowed ? written_ : left_out_);
            return allowed;
        }
        template <class Flush>
        void give_account(Flush flush) {
            if (left_out_ > 0) {
                flush(std::exchange(left_out_, 0));
            }
        }

    private:
        static constexpr std::size_t kLinesPerSecond = 100;
        SteadyTime second_{};
        std::size_t written_ = 0;
        std::size_t left_out_ = 0;
    };
    void log_left_out(LogLevel level, std::string_view what, std::size_t count);
    void log_exhausted(const EventId& event_id, std::int64_t windows_searched, SteadyTime now);

    std::mutex lines_mutex_;
    LineBudget assigned_lines_;   // Guarded by lines_mutex_.
    LineBudget exhausted_lines_;  // Guarded by lines_mutex_.
    Combiner<Submission, SlotReply> commands_;
    std::optional<Combiner<Submission, SlotReply>> changes_;  // Empty: they are among the commands.
    Combiner<Query, std::monostate> queries_;
};

}  // namespace sluice
