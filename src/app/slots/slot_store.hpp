#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "app/dispatch/work_store.hpp"
#include "base/result.hpp"
#include "core/slots/slot.hpp"

namespace sluice {

enum class SlotFault {
    UnknownConfig,
    UnknownEvent,
    Cancelled,        // The event was cancelled and stays so.
    DifferentBody,    // Strict mode: the event is known with another body.
    WeightAboveCap,   // No window could ever hold it.
    Exhausted,        // Every window within reach is full.
    Contended,        // Others held the windows for too long; trying again may help.
    Overloaded,       // Too much is waiting.
    Unavailable,      // The store cannot answer now.
    StoreFull,        // The store's disk has no room for it; nothing was stored.
    WindowSizeInUse,  // The pool has slots in the future, cut by another window size.
    PoolWindowSize,   // Another config of the pool has another window size.
    RangeTooLarge,
    AlreadyDispatched,  // Its work is on its way, or has arrived.
};

struct SlotError {
    SlotFault fault;
    std::string detail;                 // One sentence for the caller.
    std::int64_t windows_searched = 0;  // When exhausted.
    Duration window_size{};             // When exhausted: how long it takes until there is a new window.
};

// Asks for a slot. A known event gets the slot it has, whatever else is asked.
struct AssignSlot {
    EventId event_id;
    ConfigName config_name;
    SlotAsk ask;
    // False: only the event could be read, and the rest says nothing. Without a slot it is then UnknownEvent.
    bool is_readable = true;
    // What is to be sent at its time; only the request that brings a new event can add it. Null: nothing.
    // Shared, because commands are copied and the work is large.
    std::shared_ptr<const WorkOrder> work{};
};
// Many events, each for itself. REQUIRES: at least one.
struct AssignEach {
    std::vector<AssignSlot> events;
};
// All of them get a slot, or none does. REQUIRES: at least one.
struct AssignAll {
    std::vector<AssignSlot> events;
};
// Gives the place back, and withdraws the work that is not under way; doing it again changes nothing.
struct CancelSlot {
    EventId event_id;
    std::string by{};  // Who asks: for the audit of its work.
};
// Gives the place back and takes one for another requested time, under the config's active version.
struct MoveSlot {
    EventId event_id;
    Instant requested;
    std::string by{};  // Who asks: for the audit of its work.
};
using SlotCommand = std::variant<AssignSlot, AssignEach, AssignAll, CancelSlot, MoveSlot>;

struct Granted {
    Slot slot;
    bool repeated = false;   // The event had it already.
    std::int64_t depth = 0;  // Windows between the requested and the assigned one.
};
struct AllRefused {
    EventId event_id;  // The first that could not be placed.
    SlotError error;
};
using SlotOutcome = Result<Granted, SlotError>;
using AllOutcome = Result<std::vector<Granted>, AllRefused>;
using EachOutcome = std::vector<SlotOutcome>;
// EachOutcome answers AssignEach, AllOutcome answers AssignAll, SlotOutcome all the others.
using SlotReply = std::variant<SlotOutcome, EachOutcome, AllOutcome>;

// What is known of an event: how it is, and how it was before, oldest first.
struct SlotStory {
    Slot slot;
    ConfigName config_name;
    std::vector<Slot> past;
    std::optional<WorkStory> work{};
};

struct WindowFill {
    Instant start;
    Places count;
};
struct WindowReport {
    Places max;
    std::vector<WindowFill> windows;
};

struct TimeRange {
    Instant from;
    Instant to;  // Not included.
};

// An assignment that is only asked about. A known event_id quotes the slot it has.
struct QuoteRequest {
    std::optional<EventId> event_id;
    ConfigName config_name;
    SlotAsk ask;
};

inline constexpr std::size_t kWindowsReportedMax = 10'000;

class PoolWindows;

// Holds configs, slots and the counters of windows, durably.
// It promises, whatever runs at the same time and whenever it is killed: no window holds more than its cap
// when a place is taken; what was answered is stored and stays; the same event has one slot.
// Every call blocks until it is done. Thread safety: all of it.
class SlotStore {
public:
    virtual ~SlotStore() = default;

    // Runs the commands as if one by one in this order, and stores the outcome at once. One reply per
    // command.
    virtual std::vector<SlotReply> execute(std::span<const SlotCommand> commands) = 0;

    virtual Result<SlotStory, SlotError> find(const EventId& event_id) = 0;
    // The earliest time the event could be given now, with nothing reserved.
    Result<Slot, SlotError> quote(const QuoteRequest& request);
    Result<WindowReport, SlotError> windows(const ConfigName& name, TimeRange range);

    // What quotes and reports are made of: the active version of a config, and the counts of its pool. Fails
    // also when counts could not be read while `look` looked at them.
    using Look = std::function<void(const ConfigVersion&, PoolWindows&)>;
    virtual Result<void, SlotError> show_windows(const ConfigName& name, const Look& look) = 0;
    // By the clock that tells what has gone by.
    virtual Result<Instant, SlotError> time() = 0;

    virtual Result<ConfigVersion, SlotError> put_config(const ConfigDraft& draft) = 0;
    virtual Result<ConfigVersion, SlotError> active_config(const ConfigName& name) = 0;
    virtual Result<std::vector<ConfigVersion>, SlotError> config_history(
        const ConfigName& name) = 0;  // Newest first.
    // The active version of every config, by name.
    virtual Result<std::vector<ConfigVersion>, SlotError> active_configs() = 0;
    virtual void flush_config_cache() = 0;

    // False while slots cannot be assigned. Asking is also a nudge to recover.
    [[nodiscard]] virtual bool available() = 0;
    // True while new slots are refused because the disk is nearly full.
    [[nodiscard]] virtual bool full() { return false; }
    // One word for what operators should look at although slots can be assigned; empty: nothing.
    [[nodiscard]] virtual std::string_view concern() { return {}; }

    // Where the work of its slots is kept; as long as the store lives. Null: it keeps none, and assigns no
    // event that brings some.
    [[nodiscard]] virtual WorkStore* work() { return nullptr; }
};

}  // namespace sluice
