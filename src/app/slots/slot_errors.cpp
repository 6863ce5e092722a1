#include "app/slots/slot_errors.hpp"

#include "base/iso8601.hpp"

namespace sluice {
namespace {

// What ended the search, and what to change.
std::string bound_of(const SlotPolicy& policy, const SlotAsk& ask, const WindowRange& range) {
    if (ask.max_delay && policy.grid.index_of(ask.requested + *ask.max_delay) == range.last) {
        return "maxDelay is " + format_duration(*ask.max_delay) +
               ": ask with a longer one, or raise maxPerWindow of the config.";
    }
    if (policy.max_lookahead) {
        return "maxLookahead of the config is " + std::to_string(*policy.max_lookahead) +
               ": raise it or maxPerWindow.";
    }
    return "No slot is given for more than ten years ahead: raise maxPerWindow of the config.";
}

}  // namespace

SlotError store_unavailable() {
    return {SlotFault::Unavailable, "The store cannot be written now; it recovers by itself."};
}

SlotError store_full() {
    return {
        SlotFault::StoreFull,
        "The disk of the store is nearly full and nothing was stored; free some space or add some, it then "
        "goes on by itself."};
}

SlotError unknown_config(const ConfigName& name) {
    return {SlotFault::UnknownConfig, "There is no config named '" + name.text() +
                                          "'. Make one: sluice config set " + name.text() +
                                          " --max-per-window 50 --window-size 1s, or POST "
                                          "/admin/rate-limit/config."};
}

SlotError unknown_event(const EventId& id) {
    return {SlotFault::UnknownEvent, "There is no slot for event '" + id.text() + "'."};
}

SlotError event_cancelled(const EventId& id) {
    return {SlotFault::Cancelled, "Event '" + id.text() + "' was cancelled."};
}

SlotError different_body(const EventId& id) {
    return {SlotFault::DifferentBody, "Event '" + id.text() + "' is known with another body."};
}

SlotError no_room(const SlotPolicy& policy, const SlotAsk& ask) {
    const WindowRange range = reach(policy, ask);
    const std::string first = format_instant(policy.grid.start_of(range.first));
    const std::string full = range.first == range.last ? "The window of " + first
                                                       : "Every window from " + first + " to " +
                                                             format_instant(policy.grid.start_of(range.last));
    return {SlotFault::Exhausted, full + " is full. " + bound_of(policy, ask, range),
            range.last - range.first + 1, policy.grid.size()};
}

SlotError weight_above_cap(const ConfigVersion& config) {
    return {SlotFault::WeightAboveCap,
            "The weight exceeds maxPerWindow, which is " + std::to_string(config.terms.max_per_window) + "."};
}

SlotError contended() { return {SlotFault::Contended, "Others hold the windows that have room; try again."}; }

SlotError pool_has_other_size(const PoolName& pool, Duration window_size) {
    return {SlotFault::PoolWindowSize, "Pool '" + pool.text() + "' is shared by configs with windows of " +
                                           format_duration(window_size) + "; all must have the same size."};
}

SlotError window_size_in_use(const PoolName& pool, Duration window_size) {
    return {SlotFault::WindowSizeInUse, "Pool '" + pool.text() + "' has slots in the future in windows of " +
                                            format_duration(window_size) + "."};
}

SlotError recut_overflows() {
    return {SlotFault::PoolWindowSize,
            "A window of this size would hold more past slots than can be counted."};
}

SlotError range_too_large() {
    return {SlotFault::RangeTooLarge, "The range holds more than " + std::to_string(kWindowsReportedMax) +
                                          " windows; ask for less at a time."};
}

SlotError already_dispatched(const EventId& id) {
    return {SlotFault::AlreadyDispatched,
            "The work of event '" + id.text() + "' is on its way, or was; its slot stays as it is."};
}

SlotReply refuse(const SlotCommand& command, const SlotError& error) {
    if (const auto* each = std::get_if<AssignEach>(&command)) {
        return EachOutcome(each->events.size(), SlotOutcome{Unexpected{error}});
    }
    if (const auto* all = std::get_if<AssignAll>(&command)) {
        return AllOutcome{Unexpected{AllRefused{all->events.front().event_id, error}}};
    }
    return SlotOutcome{Unexpected{error}};
}

}  // namespace sluice
