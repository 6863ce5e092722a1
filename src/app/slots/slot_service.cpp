#include "app/slots/slot_service.hpp"

#include "base/iso8601.hpp"

namespace sluice {
namespace {

constexpr std::string_view kComponent = "SlotAssignmentService";
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
      commands_{{options.batch_max, options.queue_max, options.workers},
                [this](std::span<Submission> batch) { return run(batch); }},
      queries_{{1, options.queries_max, options.workers}, [this](std::span<Query> batch) {
                   for (Query& query : batch) {
                       query(world_.store);
                   }
                   return std::vector<std::monostate>(batch.size());
               }} {
    if (options.workers > 1) {
        changes_.emplace(CombinerLimits{1, options.queue_max, options.workers},
                         [this](std::span<Submission> batch) { return run(batch); });
    }
}

void SlotService::execute(SlotCommand command, CommandDone done, WhenFull when_full) {
    const SteadyTime now = std::chrono::steady_clock::now();
    const std::size_t weight = weight_of(command);
    auto complete = [this, done = std::move(done),
                     refusal = RefusalOf{command}](Result<SlotReply, Refusal> result) mutable {
        if (result) {
            return done(std::move(*result));
        }
        world_.metrics.refused();
        done(refusal.reply());
    };
    // Whoever waits for room has no deadline either: the stream's own pace is its patience.
    const SteadyTime deadline =
        when_full == WhenFull::WaitForRoom ? SteadyTime::max() : now + options_.patience;
    auto& combiner = changes_ && is_change(command) ? *changes_ : commands_;
    combiner.submit({Submission{std::move(command), now}, std::move(complete), deadline, weight, when_full});
}

void SlotService::ask(Query query, UniqueFunction<void(std::optional<SlotError>)> done) {
    auto complete = [done = std::move(done)](Result<std::monostate, Refusal> result) mutable {
        done(result ? std::nullopt : std::optional{overloaded()});
    };
    queries_.submit(
        {std::move(query), std::move(complete), std::chrono::steady_clock::now() + options_.patience});
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
    const SteadyTime now = std::chrono::steady_clock::now();
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
