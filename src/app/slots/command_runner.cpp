#include "app/slots/command_runner.hpp"

#include "app/dispatch/work_steps.hpp"
#include "app/slots/slot_errors.hpp"

namespace sluice {
namespace {

AuditLine line(AuditLine::Action action, const std::string& by) {
    AuditLine line;
    line.action = action;
    line.by = by;
    return line;
}

}  // namespace

SlotReply CommandRunner::run(const SlotCommand& command) {
    before_.reset();
    return std::visit([this](const auto& one) { return run_one(one); }, command);
}

SlotReply CommandRunner::run_one(const AssignSlot& command) { return assign(command); }

SlotReply CommandRunner::run_one(const AssignEach& command) {
    EachOutcome outcomes;
    outcomes.reserve(command.events.size());
    for (const AssignSlot& event : command.events) {
        outcomes.push_back(assign(event));
    }
    return outcomes;
}

SlotReply CommandRunner::run_one(const AssignAll& command) {
    std::vector<Granted> granted;
    before_.emplace();
    for (const AssignSlot& event : command.events) {
        auto outcome = assign(event);
        if (!outcome) {
            undo(granted);
            return AllOutcome{Unexpected{AllRefused{event.event_id, std::move(outcome).error()}}};
        }
        granted.push_back(std::move(*outcome));
    }
    return AllOutcome{std::move(granted)};
}

SlotReply CommandRunner::run_one(const CancelSlot& command) {
    EventDraft& draft = group_.draft(command.event_id);
    if (!draft.slot) {
        return SlotOutcome{Unexpected{unknown_event(command.event_id)}};
    }
    if (draft.slot->state == SlotState::Cancelled) {
        return SlotOutcome{Granted{*draft.slot, true}};
    }
    if (terms_.room == StoreRoom::None) {
        return SlotOutcome{Unexpected{store_full()}};
    }
    if (draft.slot->work != WorkMark::None) {
        WorkDraft* work = work_of(draft);
        if (work == nullptr) {
            return SlotOutcome{Unexpected{store_unavailable()}};
        }
        if (work->work().state == WorkState::Claimed || work->work().state == WorkState::Sent) {
            return SlotOutcome{Unexpected{already_dispatched(command.event_id)}};
        }
        work->add_line(line(AuditLine::Action::Cancelled, command.by), terms_.now);
        close(work->change(), WorkState::Withdrawn, terms_.now);
    }
    give_back(*draft.slot);
    Slot next = *draft.slot;
    next.state = SlotState::Cancelled;
    next.work = next.work == WorkMark::None ? WorkMark::None : WorkMark::Closed;
    replace(draft, std::move(next));
    return SlotOutcome{Granted{*draft.slot}};
}

SlotReply CommandRunner::run_one(const MoveSlot& command) {
    EventDraft& draft = group_.draft(command.event_id);
    if (!draft.slot) {
        return SlotOutcome{Unexpected{unknown_event(command.event_id)}};
    }
    if (draft.slot->state == SlotState::Cancelled) {
        return SlotOutcome{Unexpected{event_cancelled(command.event_id)}};
    }
    if (draft.slot->requested == command.requested) {
        return SlotOutcome{Granted{*draft.slot, true}};  // A repeated move stays where it is.
    }
    // An event is cancelled once but may be moved for ever: moves would use up what is kept for cancels.
    if (terms_.room != StoreRoom::Enough) {
        return SlotOutcome{Unexpected{store_full()}};
    }
    WorkDraft* work = nullptr;
    if (draft.slot->work != WorkMark::None) {
        work = work_of(draft);
        if (work == nullptr) {
            return SlotOutcome{Unexpected{store_unavailable()}};
        }
        if (!is_untouched(work->work())) {
            return SlotOutcome{Unexpected{already_dispatched(command.event_id)}};
        }
    }
    const Slot before = *draft.slot;
    const ConfigRef config = state_.active(state_.book.version(before.config_id).terms.name);
    // The place is given back first: the event may well go to the window that it leaves.
    before_.emplace();
    give_back(before);
    auto placed =
        take_place(before.event_id, *config, SlotAsk{command.requested, before.weight, before.max_delay});
    if (!placed) {
        put_back_windows();
        return SlotOutcome{Unexpected{std::move(placed).error()}};
    }
    placed->slot.work = before.work;
    if (work != nullptr) {
        work->add_line(line(AuditLine::Action::Moved, command.by), terms_.now);
        work->change().pool = config->terms.pool;
        move(work->change(), placed->slot.scheduled);
    }
    replace(draft, placed->slot);
    return SlotOutcome{Granted{*draft.slot, false, placed->depth}};
}

SlotOutcome CommandRunner::assign(const AssignSlot& command) {
    EventDraft& draft = group_.draft(command.event_id);
    if (draft.slot) {
        return answer_repeat(draft, command);
    }
    if (!command.is_readable) {
        return Unexpected{unknown_event(command.event_id)};
    }
    const ConfigRef config = state_.active(command.config_name);
    if (config == nullptr) {
        return Unexpected{unknown_config(command.config_name)};
    }
    if (terms_.room != StoreRoom::Enough) {
        return Unexpected{store_full()};
    }
    if (command.work != nullptr && state_.tables.work() == nullptr) {
        return Unexpected{store_unavailable()};
    }
    auto placed = take_place(command.event_id, *config, command.ask);
    if (placed) {
        if (command.work != nullptr) {
            placed->slot.work = WorkMark::Open;
            draft.work = new_work(placed->slot, *config, command);
        }
        draft.slot = placed->slot;
        draft.changed = true;
    }
    return placed;
}

SlotOutcome CommandRunner::answer_repeat(EventDraft& draft, const AssignSlot& command) {
    const ConfigName& config = state_.book.version(draft.slot->config_id).terms.name;
    auto answer = answer_known(*draft.slot, config, command, terms_.bodies);
    if (!answer || terms_.bodies == Bodies::FirstWins || command.work == nullptr) {
        return answer;
    }
    if (draft.work != nullptr && draft.work->order() != nullptr) {  // Brought by a command before.
        return is_same_work(*draft.work->order(), *command.work)
                   ? answer
                   : Unexpected{different_body(command.event_id)};
    }
    const std::string_view id = command.event_id.text();
    const auto orders = state_.tables.work()->orders({&id, 1});
    if (!orders || !orders->front()) {
        state_.unreadable_work = orders ? StoreError{"a work has no order"} : orders.error();
        return Unexpected{store_unavailable()};
    }
    return is_same_work(*orders->front(), *command.work) ? answer
                                                         : Unexpected{different_body(command.event_id)};
}

std::unique_ptr<WorkDraft> CommandRunner::new_work(const Slot& slot, const ConfigVersion& config,
                                                   const AssignSlot& command) {
    Work work{.event_id = slot.event_id,
              .config = config.terms.name,
              .pool = config.terms.pool,
              .route = command.work->route,
              .target = command.work->target.kind,
              .scheduled = slot.scheduled,
              .weight = slot.weight,
              .due = slot.scheduled};
    const auto& after =
        command.work->expires_after ? command.work->expires_after : config.terms.dispatch.expires_after;
    if (after) {
        work.expires = slot.scheduled + *after;
    }
    return std::make_unique<WorkDraft>(std::move(work), command.work);
}

WorkDraft* CommandRunner::work_of(EventDraft& draft) {
    if (draft.work != nullptr) {
        return draft.work.get();
    }
    const std::string_view id = draft.slot->event_id.text();
    auto rows =
        state_.tables.work() == nullptr
            ? Result<std::vector<std::optional<WorkRow>>, StoreError>{std::vector<std::optional<WorkRow>>(1)}
            : state_.tables.work()->find({&id, 1});
    if (!rows || !rows->front()) {
        state_.unreadable_work = rows ? StoreError{"a slot has lost its work"} : rows.error();
        return nullptr;
    }
    draft.work = std::make_unique<WorkDraft>(std::move(*rows->front()));
    return draft.work.get();
}

SlotOutcome CommandRunner::take_place(const EventId& event_id, const ConfigVersion& config,
                                      const SlotAsk& ask) {
    if (ask.weight > config.terms.max_per_window) {
        return Unexpected{weight_above_cap(config)};
    }
    const SlotPolicy policy = config.policy();
    const SlotAsk at_once = asked_at(policy, ask, terms_.now);
    const Pool& pool = state_.book.pool(config.terms.pool);
    PoolWindows& windows = state_.windows_of(pool);
    const auto placement = place(policy, at_once, windows, state_.random);
    if (windows.failure()) {
        return Unexpected{store_unavailable()};
    }
    if (!placement) {
        return Unexpected{no_room(policy, at_once)};
    }
    remember(pool, placement->window);
    windows.take(policy, *placement, ask.weight);
    group_.touch(pool.id, placement->window);
    return Granted{Slot{event_id, config.id, ask.requested, policy.grid.start_of(placement->window),
                        placement->scheduled, ask.weight, ask.max_delay, SlotState::Assigned, 0, terms_.now},
                   false, placement->window - policy.grid.index_of(ask.requested)};
}

CommandRunner::CountedAt CommandRunner::counted_at(const Slot& slot) const {
    const Pool& pool = state_.book.pool(state_.book.version(slot.config_id).terms.pool);
    return {pool, WindowGrid{pool.window_size}.index_of(slot.scheduled)};
}

void CommandRunner::give_back(const Slot& slot) {
    const auto [pool, window] = counted_at(slot);
    PoolWindows& windows = state_.windows_of(pool);
    if (windows.is_open(window)) {
        remember(pool, window);
        const Instant start = WindowGrid{pool.window_size}.start_of(window);
        windows.give_back(window, slot.weight, pool.window_size, slot.scheduled - start);
        group_.touch(pool.id, window);
    }
}

void CommandRunner::remember(const Pool& pool, WindowIndex window) {
    if (before_ && !before_->contains({pool.id, window})) {
        before_->emplace(std::pair{pool.id, window}, state_.windows_of(pool).content(window));
    }
}

void CommandRunner::put_back_windows() {
    for (auto& [key, content] : *before_) {
        state_.windows.at(key.first).put_back(key.second, std::move(content));
    }
    before_.reset();
}

// Takes back what one AssignAll has granted so far.
void CommandRunner::undo(const std::vector<Granted>& granted) {
    put_back_windows();
    for (const Granted& one : granted) {
        if (!one.repeated) {
            group_.draft(one.slot.event_id) = EventDraft{};
        }
    }
}

void CommandRunner::replace(EventDraft& draft, Slot next) const {
    next.revision = draft.slot->revision + 1;
    next.since = terms_.now;
    draft.past.push_back(std::move(*draft.slot));
    draft.past.back().work = WorkMark::None;
    draft.slot = std::move(next);
    draft.changed = true;
}

}  // namespace sluice
