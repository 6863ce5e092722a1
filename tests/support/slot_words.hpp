#pragma once

#include <ostream>
#include <string>
#include <string_view>

#include "app/slots/slot_store.hpp"
#include "base/iso8601.hpp"

namespace sluice {

// What GoogleTest shows of a slot.
inline void PrintTo(const Slot& slot, std::ostream* out) {
    *out << slot.event_id.text() << " of " << config_id_text(slot.config_id) << ": "
         << format_instant(slot.requested) << " -> " << format_instant(slot.scheduled) << " in "
         << format_instant(slot.window_start) << ", weight " << slot.weight << ", revision " << slot.revision
         << (slot.state == SlotState::Cancelled ? ", cancelled" : "") << " since "
         << format_instant(slot.since);
}

}  // namespace sluice

// Short ways to say what tests of slots talk about.
namespace sluice::test {

using namespace std::chrono_literals;

inline Instant at(std::string_view text) { return parse_instant(text).value(); }

// Noon of a day in 2025: the start of a window of every size that divides a day.
inline constexpr Instant kNoon = std::chrono::sys_days{std::chrono::June / 1 / 2025} + 12h;

inline EventId event(std::string_view text) { return EventId::make(text).value(); }
inline EventId event(std::size_t number) { return event("e" + std::to_string(number)); }
inline ConfigName config(std::string_view text) { return ConfigName::make(text).value(); }
inline PoolName pool(std::string_view text) { return PoolName::make(text).value(); }

// A config with a pool of its own.
inline ConfigDraft draft(std::string_view name, Places max_per_window, Duration window_size) {
    return {config(name), max_per_window, window_size, pool(name)};
}
inline ConfigDraft sharing(std::string_view pool_name, ConfigDraft draft) {
    draft.pool = pool(pool_name);
    return draft;
}
inline ConfigDraft looking_ahead(std::int64_t windows, ConfigDraft draft) {
    draft.max_lookahead = windows;
    return draft;
}

inline ConfigDraft stratified(ConfigDraft draft) {
    draft.spread = Spread::Stratified;
    return draft;
}
inline ConfigDraft placing_past_now(ConfigDraft draft) {
    draft.past = Past::Now;
    return draft;
}

inline AssignSlot assign(EventId id, std::string_view config_name, SlotAsk ask) {
    return {std::move(id), config(config_name), ask};
}
inline AssignSlot assign(std::string_view id, std::string_view config_name, SlotAsk ask) {
    return assign(event(id), config_name, ask);
}

// Only its event could be read.
inline AssignSlot unreadable(std::string_view id) {
    AssignSlot command = assign(id, "a", {});
    command.is_readable = false;
    return command;
}

// One command, one reply.
inline SlotOutcome run_one(SlotStore& store, SlotCommand command) {
    auto replies = store.execute({&command, 1});
    return std::get<SlotOutcome>(std::move(replies.at(0)));
}
inline EachOutcome run_each(SlotStore& store, AssignEach each) {
    const SlotCommand command{std::move(each)};
    auto replies = store.execute({&command, 1});
    return std::get<EachOutcome>(std::move(replies.at(0)));
}
inline AllOutcome run_all(SlotStore& store, AssignAll all) {
    const SlotCommand command{std::move(all)};
    auto replies = store.execute({&command, 1});
    return std::get<AllOutcome>(std::move(replies.at(0)));
}

}  // namespace sluice::test
