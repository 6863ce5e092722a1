#include "app/slots/slot_service.hpp"

#include <algorithm>
#include <iterator>

#include "base/iso8601.hpp"

namespace sluice {
namespace {

constexpr std::string_view kComponent = "SlotAssignmentService";
// How many events of a bulk travel together: what others wait for at most.
constexpr std::size_t kEventsPerCommand = 256;
constexpr std::string_view kAssigned = "Assigned";
constexpr std::string_view kExhausted = "Could not assign";

std::size_t weight_of(const SlotCommand& command) {
    return std::visit(
        [](const auto& one) -> std::size_t {
            if constexpr (requires { one.events; }) {
                return one.events.size();
            } else {
                return 1;
            }
        },
        command);
}

bool is_change(const SlotCommand& command) {
    return std::holds_alternative<CancelSlot>(command) || std::holds_alternative<MoveSlot>(command);
}

SlotError overloaded() {
    return {SlotFault::Overloaded, "Too many requests are waiting; try again shortly."};
}

// Remembers of a command what its refusal needs, since the command itself goes to the queue.
class RefusalOf {
public:
    explicit RefusalOf(const SlotCommand& command) {
        if (const auto* each = std::get_if<AssignEach>(&command)) {
            each_ = each->events.size();
        } else if (const auto* all = std::get_if<AssignAll>(&command)) {
            first_of_all_ = all->events.front().event_id;
        }
    }

    [[nodiscard]] SlotReply reply() const {
        if (each_ > 0) {
            return EachOutcome(each_, SlotOutcome{Unexpected{overloaded()}});
        }
        if (first_of_all_) {
            return AllOutcome{Unexpected{AllRefused{*first_of_all_, overloaded()}}};
        }
        return SlotOutcome{Unexpected{overloaded()}};
    }

private:
    std::size_t each_ = 0;
    std::optional<EventId> first_of_all_;
};

}  // namespace

SlotService::SlotService(SlotServiceOptions options, SlotServiceWorld world)
    : options_{options},
      world_{world},
      commands_{world.runtime,
                {options.batch_max, options.queue_max, options.workers},
                [this](std::span<Submission> batch) { return run(batch); }},
      queries_{world.runtime, {1, options.queries_max, options.workers}, [this](std::span<Query> batch) {
                   for (Query& query : batch) {
                       query(world_.store);
                   }
                   return std::vector<std::monostate>(batch.size());
               }} {
    if (options.workers > 1) {
        changes_.emplace(world.runtime, CombinerLimits{1, options.queue_max, options.workers},
                         [this](std::span<Submission> batch) { return run(batch); });
    }
}

template <class Outcome, class Then>
void SlotService::submit(SlotCommand command, Then then, WhenFull when_full) {
    const SteadyTime now = world_.runtime.now();
    const std::size_t weight = weight_of(command);
    auto complete = [this, then = std::move(then),
                     refusal = RefusalOf{command}](Result<SlotReply, Refusal> result) mutable {
        if (result) {
            return then(std::get<Outcome>(*std::move(result)));
        }
        world_.metrics.refused();
        then(std::get<Outcome>(refusal.reply()));
    };
    // Whoever waits for room has no deadline either: the stream's own pace is its patience.
    const SteadyTime deadline =
        when_full == WhenFull::WaitForRoom ? SteadyTime::max() : now + options_.patience;
    auto& combiner = changes_ && is_change(command) ? *changes_ : commands_;
    combiner.submit({Submission{std::move(command), now}, std::move(complete), deadline, weight, when_full});
}

void SlotService::assign(AssignSlot event, Done<Granted> done, WhenFull when_full) {
    submit<SlotOutcome>(std::move(event), std::move(done), when_full);
}

// Events that do not fit one command: the next part goes when the one before is done.
struct SlotService::Bulk {
    std::vector<AssignSlot> events;
    EachDone done;
    WhenFull when_full;
    EachOutcome outcomes{};
};

void SlotService::assign_each(std::vector<AssignSlot> events, EachDone done, WhenFull when_full) {
    if (events.empty()) {
        return done({});
    }
    if (events.size() <= kEventsPerCommand) {
        return submit<EachOutcome>(AssignEach{std::move(events)}, std::move(done), when_full);
    }
    go_on(std::make_shared<Bulk>(Bulk{std::move(events), std::move(done), when_full}));
}

void SlotService::go_on(const std::shared_ptr<Bulk>& bulk) {
    const std::size_t first = bulk->outcomes.size();
    const std::size_t count = std::min(bulk->events.size() - first, kEventsPerCommand);
    if (count == 0) {
        return bulk->done(std::move(bulk->outcomes));
    }
    const auto next = std::make_move_iterator(bulk->events.begin() + static_cast<std::ptrdiff_t>(first));
    AssignEach part{{next, next + static_cast<std::ptrdiff_t>(count)}};
    const auto then = [this, bulk](EachOutcome outcomes) {
        std::ranges::move(outcomes, std::back_inserter(bulk->outcomes));
        go_on(bulk);
    };
    submit<EachOutcome>(std::move(part), then, bulk->when_full);
}

void SlotService::assign_all(std::vector<AssignSlot> events, AllDone done) {
    submit<AllOutcome>(AssignAll{std::move(events)}, std::move(done));
}

void SlotService::cancel(EventId event_id, Done<Granted> done, std::string by) {
    submit<SlotOutcome>(CancelSlot{std::move(event_id), std::move(by)}, std::move(done));
}

void SlotService::move(EventId event_id, Instant requested, Done<Granted> done, std::string by) {
    submit<SlotOutcome>(MoveSlot{std::move(event_id), requested, std::move(by)}, std::move(done));
}

template <class T, class Call>
void SlotService::ask(Call call, Done<T> done) {
    struct Asked {
        Call call;
        Done<T> done;
        std::optional<Result<T, SlotError>> answer{};
    };
    const auto asked = std::make_shared<Asked>(Asked{std::move(call), std::move(done)});
    auto query = [asked](SlotStore& store) { asked->answer.emplace(asked->call(store)); };
    auto complete = [asked](const Result<std::monostate, Refusal>& result) {
        asked->done(result ? *std::move(asked->answer) : Unexpected{overloaded()});
    };
    queries_.submit({std::move(query), std::move(complete), world_.runtime.now() + options_.patience});
}

void SlotService::find(EventId event_id, Done<SlotStory> done) {
    ask<SlotStory>([id = std::move(event_id)](SlotStore& store) { return store.find(id); }, std::move(done));
}

void SlotService::quote(QuoteRequest request, Done<Slot> done) {
    ask<Slot>([wanted = std::move(request)](SlotStore& store) { return store.quote(wanted); },
              std::move(done));
}

void SlotService::windows(ConfigName name, TimeRange range, Done<WindowReport> done) {
    ask<WindowReport>(
        [wanted = std::move(name), range](SlotStore& store) { return store.windows(wanted, range); },
        std::move(done));
}

void SlotService::put_config(ConfigDraft draft, Done<ConfigVersion> done) {
    ask<ConfigVersion>([wanted = std::move(draft)](SlotStore& store) { return store.put_config(wanted); },
                       std::move(done));
}

void SlotService::active_config(ConfigName name, Done<ConfigVersion> done) {
    ask<ConfigVersion>([wanted = std::move(name)](SlotStore& store) { return store.active_config(wanted); },
                       std::move(done));
}

void SlotService::config_history(ConfigName name, Done<std::vector<ConfigVersion>> done) {
    ask<std::vector<ConfigVersion>>(
        [wanted = std::move(name)](SlotStore& store) { return store.config_history(wanted); },
        std::move(done));
}

void SlotService::active_configs(Done<std::vector<ConfigVersion>> done) {
    ask<std::vector<ConfigVersion>>([](SlotStore& store) { return store.active_configs(); }, std::move(done));
}

void SlotService::flush_config_cache(Done<std::monostate> done) {
    const auto flush = [](SlotStore& store) -> Result<std::monostate, SlotError> {
        store.flush_config_cache();
        return std::monostate{};
    };
    ask<std::monostate>(flush, std::move(done));
}

void SlotService::readiness(Done<SlotReadiness> done) {
    const auto look = [](SlotStore& store) -> Result<SlotReadiness, SlotError> {
        const bool available = store.available();
        if (store.full()) {
            return SlotReadiness{false, "store_full"};
        }
        return available ? SlotReadiness{true, store.concern()} : SlotReadiness{false, "unavailable"};
    };
    ask<SlotReadiness>(look, std::move(done));
}

void SlotService::stop() {
    commands_.stop();
    if (changes_) {
        changes_->stop();
    }
    queries_.stop();
    const std::lock_guard lock{lines_mutex_};
    assigned_lines_.give_account(
        [this](std::size_t count) { log_left_out(LogLevel::Info, kAssigned, count); });
    exhausted_lines_.give_account(
        [this](std::size_t count) { log_left_out(LogLevel::Error, kExhausted, count); });
}

std::vector<SlotReply> SlotService::run(std::span<Submission> batch) {
    std::vector<SlotCommand> commands;
    commands.reserve(batch.size());
    for (Submission& submission : batch) {
        commands.push_back(std::move(submission.command));
    }
    auto replies = world_.store.execute(commands);
    const SteadyTime now = world_.runtime.now();
    world_.metrics.batch_run(batch.size());
    for (std::size_t i = 0; i < batch.size(); ++i) {
        batch[i].command = std::move(commands[i]);
        observe(batch[i], replies[i], now);
    }
    return replies;
}

void SlotService::observe(const Submission& submission, const SlotReply& reply, SteadyTime now) {
    const auto seen = [&](const EventId& id) { return Seen{id, now - submission.arrived, now}; };
    if (const auto* assign = std::get_if<AssignSlot>(&submission.command)) {
        observe(std::get<SlotOutcome>(reply), seen(assign->event_id));
    } else if (const auto* each = std::get_if<AssignEach>(&submission.command)) {
        const auto& outcomes = std::get<EachOutcome>(reply);
        for (std::size_t i = 0; i < outcomes.size(); ++i) {
            observe(outcomes[i], seen(each->events[i].event_id));
        }
    } else if (const auto* all = std::get_if<AllOutcome>(&reply)) {
        if (!*all) {
            observe(Unexpected{all->error().error}, seen(all->error().event_id));
            return;
        }
        for (const Granted& granted : **all) {
            observe(granted, seen(granted.slot.event_id));
        }
    }
}

void SlotService::observe(const SlotOutcome& outcome, const Seen& event) {
    const EventId& event_id = event.event_id;
    if (!outcome) {
        const SlotError& error = outcome.error();
        if (error.fault == SlotFault::Exhausted) {
            world_.metrics.exhausted();
            log_exhausted(event_id, error.windows_searched, event.now);
        } else if (error.fault == SlotFault::Contended) {
            world_.metrics.contended();
        }
        return;
    }
    if (outcome->repeated) {
        world_.metrics.repeated(event.took);
        if (world_.log.enabled(LogLevel::Debug)) {
            world_.log.write(LogLevel::Debug, kComponent, "Idempotent hit for eventId=" + event_id.text());
        }
        return;
    }
    world_.metrics.assigned(event.took, outcome->depth);
    log_assigned(outcome->slot, event.now);
}

void SlotService::log_left_out(LogLevel level, std::string_view what, std::size_t count) {
    world_.log.write(level, kComponent,
                     std::string{what} + " " + std::to_string(count) + " more slots, not listed");
}

void SlotService::log_exhausted(const EventId& event_id, std::int64_t windows_searched, SteadyTime now) {
    const auto account = [this](std::size_t count) { log_left_out(LogLevel::Error, kExhausted, count); };
    if (!world_.log.enabled(LogLevel::Debug)) {
        const std::lock_guard lock{lines_mutex_};
        if (!exhausted_lines_.take(now, account)) {
            return;
        }
    }
    world_.log.write(LogLevel::Error, kComponent,
                     "Could not assign slot for event " + event_id.text() + ", searched " +
                         std::to_string(windows_searched) + " windows");
}

void SlotService::log_assigned(const Slot& slot, SteadyTime now) {
    if (!world_.log.enabled(LogLevel::Info)) {
        return;
    }
    const auto account = [this](std::size_t count) { log_left_out(LogLevel::Info, kAssigned, count); };
    if (!world_.log.enabled(LogLevel::Debug)) {
        const std::lock_guard lock{lines_mutex_};
        if (!assigned_lines_.take(now, account)) {
            return;
        }
    }
    world_.log.write(LogLevel::Info, kComponent,
                     "Assigned slot for eventId=" + slot.event_id.text() +
                         " in window=" + format_instant(slot.window_start));
}

}  // namespace sluice
