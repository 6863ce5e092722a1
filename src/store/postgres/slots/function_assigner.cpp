#include "store/postgres/slots/function_assigner.hpp"

#include <algorithm>

#include "app/slots/slot_errors.hpp"
#include "store/postgres/client/retry_pause.hpp"
#include "store/postgres/slots/slot_rows.hpp"
#include "store/postgres/slots/store_trouble.hpp"

namespace sluice::postgres {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPatience{2000};
constexpr std::chrono::milliseconds kPause{20};

// The lock time-out is set before the function is called: arguments come first.
#define SLUICE_TAKEN_SLOT(work)                                                                    \
    "select " SLUICE_SLOT_COLUMNS                                                                  \
    ", taken.repeated from sluice.take_slot($1, $2, $3, $4, $5,"                                   \
    " case when set_config('lock_timeout', $7, true) is not null then sluice.from_ms($6) end" work \
    ") taken, lateral (select (taken.slot).*) d, lateral sluice.config_version(d.rl_wndw_config_id) c"
constexpr Statement kTakeSlot{"take_slot", SLUICE_TAKEN_SLOT("")};
constexpr Statement kTakeSlotWithWork{"take_slot_with_work", SLUICE_TAKEN_SLOT(", " SLUICE_BROUGHT_WORK)};
#undef SLUICE_TAKEN_SLOT

Parameters parameters_of(const AssignSlot& event, Instant now, std::chrono::milliseconds wait) {
    Parameters parameters;
    parameters.add(event.event_id.text());
    // A config that never exists: the function answers a known event, and for any other finds no config.
    event.is_readable ? parameters.add(event.config_name.text()) : parameters.add_null();
    parameters.add(to_ms(event.ask.requested)).add(std::int64_t{event.ask.weight});
    event.ask.max_delay ? parameters.add(event.ask.max_delay->count()) : parameters.add_null();
    parameters.add(to_ms(now)).add(std::to_string(wait.count()) + "ms");
    if (event.work != nullptr) {
        add_work(parameters, *event.work);
    }
    return parameters;
}

}  // namespace

std::vector<SlotOutcome> FunctionAssigner::assign_each(std::span<const AssignSlot* const> events) {
    Attempted outcomes(events.size());
    const auto deadline = steady_clock::now() + kPatience;
    const auto is_open = [](const Tried& tried) { return !tried.outcome; };
    attempt(events, outcomes);
    while (std::ranges::any_of(outcomes, is_open) && steady_clock::now() < deadline) {
        pause_before_retry(kPause);
        attempt(events, outcomes);
    }
    std::vector<SlotOutcome> result;
    result.reserve(events.size());
    for (Tried& tried : outcomes) {
        result.push_back(tried.outcome ? std::move(*tried.outcome)
                                       : Unexpected{tried.is_held ? contended() : store_unavailable()});
    }
    return result;
}

void FunctionAssigner::attempt(std::span<const AssignSlot* const> events, Attempted& outcomes) {
    const auto lease = pool_.take(steady_clock::now() + kConnectionPatience);
    if (!lease) {
        return;
    }
    std::vector<std::size_t> sent;
    std::vector<bool> held;
    for (std::size_t i = 0; i < events.size(); ++i) {
        if (!outcomes[i].outcome) {
            sent.push_back(i);
            held.push_back(held_.contains(events[i]->event_id));
        }
    }
    // Those that were waited for before are only looked at, the shorter the more they are.
    const auto look = look_at_each_of(static_cast<std::size_t>(std::ranges::count(held, true)));
    const auto wait = wait_for_each_of(sent.size());
    for (std::size_t i = 0; i < sent.size(); ++i) {
        (*lease)->queue(events[sent[i]]->work == nullptr ? kTakeSlot : kTakeSlotWithWork,
                        parameters_of(*events[sent[i]], world_.clock.now(), held[i] ? look : wait));
    }
    const auto replies = (*lease)->flush_each();
    const auto orders = orders_for(**lease, events);
    report(replies);
    for (std::size_t i = 0; i < sent.size(); ++i) {
        outcomes[sent[i]] = outcome_of(*events[sent[i]], replies[i], outcomes[sent[i]].is_held, orders);
    }
}

Result<StoredOrders, Failure> FunctionAssigner::orders_for(Connection& connection,
                                                           std::span<const AssignSlot* const> events) const {
    ArrayText compared;
    bool any = false;
    for (const AssignSlot* event : events) {
        if (compares_work(*event, bodies_)) {
            compared.add(std::string_view{event->event_id.text()});
            any = true;
        }
    }
    if (!any) {
        return StoredOrders{};
    }
    queue_reading_orders(connection, compared);
    const auto rows = connection.flush();
    return rows ? read_orders(rows->front()) : Unexpected{rows.error()};
}

// One line, however many events met the same trouble.
void FunctionAssigner::report(std::span<const Result<Rows, Failure>> replies) const {
    const auto trouble = std::ranges::find_if(replies, [](const auto& reply) {
        return !reply && !is_own(reply.error().sqlstate) && !reply.error().contended();
    });
    if (trouble != replies.end()) {
        world_.log.write(LogLevel::Warn, kStoreComponent, trouble->error().described());
    }
}

FunctionAssigner::Tried FunctionAssigner::outcome_of(const AssignSlot& event,
                                                     const Result<Rows, Failure>& rows, bool was_held,
                                                     const Result<StoredOrders, Failure>& orders) {
    if (!rows) {
        const Failure& failure = rows.error();
        if (failure.means(Meaning::Held) && (held_.note(event.event_id) || was_held)) {
            return {std::nullopt, true};
        }
        // Asking again finds what was stored, if it was.
        const bool again = failure.connection_lost || failure.outcome_unknown;
        return again ? Tried{} : Tried{refusal_of(event, failure)};
    }
    auto stored = rows->empty() ? std::nullopt : read_slot(*rows, 0);
    if (!stored) {
        return {SlotOutcome{Unexpected{store_unavailable()}}};
    }
    if (rows->boolean(0, kSlotColumns).value_or(true)) {
        if (!orders) {
            return {};  // Asked again, it is known still.
        }
        return {answer_repeat({stored->slot, stored->config_name, find_order(*orders, event.event_id)}, event,
                              bodies_)};
    }
    const auto config = configs_.active(event.config_name);
    const Duration size = config && *config ? (*config)->terms.window_size : Duration{1};
    const auto depth = depth_of(stored->slot, WindowGrid{size});
    return {SlotOutcome{Granted{std::move(stored->slot), false, depth}}};
}

SlotOutcome FunctionAssigner::refusal_of(const AssignSlot& event, const Failure& failure) {
    const Meaning meaning = failure.meaning();
    if (meaning == Meaning::UnknownConfig) {
        return Unexpected{event.is_readable ? unknown_config(event.config_name)
                                            : unknown_event(event.event_id)};
    }
    if (meaning == Meaning::Cancelled) {
        return Unexpected{event_cancelled(event.event_id)};
    }
    if (failure.contended()) {
        return Unexpected{contended()};
    }
    const auto config = configs_.active(event.config_name);
    if (config && *config && meaning == Meaning::Exhausted) {
        const SlotPolicy policy = (*config)->policy();
        return Unexpected{no_room(policy, asked_at(policy, event.ask, world_.clock.now()))};
    }
    if (config && *config && meaning == Meaning::BadArgument) {
        return Unexpected{weight_above_cap(**config)};
    }
    return Unexpected{store_unavailable()};
}

}  // namespace sluice::postgres
