#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/name.hpp"
#include "base/time.hpp"
#include "core/dispatch/gate.hpp"
#include "core/dispatch/retry_schedule.hpp"
#include "core/slots/planner.hpp"

namespace sluice {

using EventId = Name<struct EventTag, 255>;
using ConfigName = Name<struct ConfigTag, 128>;
using PoolName = Name<struct PoolTag, 128>;

// The number of a config version, counted over all configs of a store.
enum class ConfigId : std::uint32_t {};

inline constexpr Places kMaxPerWindowLimit = 1'000'000'000;

// How the work of a config's events goes out.
struct DispatchDraft {
    std::optional<GateTerms> rate{};  // Of the pool: the lowest of its active configs counts.
    // For events that do not say it themselves.
    std::optional<Duration> expires_after{};
    std::optional<RetrySchedule> retries{};  // Absent: the usual one.

    bool operator==(const DispatchDraft&) const = default;
};

// What an administrator asks a config to be.
struct ConfigDraft {
    ConfigName name;
    Places max_per_window;  // 1 to kMaxPerWindowLimit.
    Duration window_size;   // Positive, at most kDurationMax.
    PoolName pool;
    std::optional<std::int64_t> max_lookahead{};  // Not negative.
    // REQUIRES: for Stratified at most kCellsMax places, and at most one for each millisecond of the window.
    Spread spread = Spread::Random;
    Past past = Past::AsSent;
    DispatchDraft dispatch{};
};

// One version of a config. A newer one deactivates it; nothing else about it ever changes.
struct ConfigVersion {
    ConfigId id;
    ConfigDraft terms;
    Instant effective_from;
    bool active = true;

    [[nodiscard]] SlotPolicy policy() const {
        return {WindowGrid{terms.window_size}, terms.max_per_window, terms.max_lookahead, terms.spread,
                terms.past};
    }
};

enum class SlotState : std::uint8_t { Assigned = 1, Cancelled = 2 };

// Whether an event brought work along.
enum class WorkMark : std::uint8_t {
    None = 0,
    Open = 1,  // Something may still happen to it: the slot is not forgotten.
    Closed = 2
};

// An event's place in time. `revision` counts the moves and cancels that led to it.
struct Slot {
    EventId event_id;
    ConfigId config_id;  // The version that assigned it.
    Instant requested;
    Instant window_start;
    Instant scheduled;
    Places weight = 1;
    std::optional<Duration> max_delay{};
    SlotState state = SlotState::Assigned;
    std::uint32_t revision = 0;
    Instant since{};                 // When it became what it is.
    WorkMark work = WorkMark::None;  // Of a past one: None.

    [[nodiscard]] Duration delay() const { return scheduled - requested; }
    bool operator==(const Slot&) const = default;
};

// How users name these.
constexpr std::string_view name_of(Spread spread) {
    return spread == Spread::Stratified ? "stratified" : "random";
}
constexpr std::string_view name_of(Past past) { return past == Past::Now ? "now" : "asSent"; }
// Nothing for any other name.
constexpr std::optional<Spread> spread_named(std::string_view name) {
    for (const Spread spread : {Spread::Random, Spread::Stratified}) {
        if (name == name_of(spread)) {
            return spread;
        }
    }
    return std::nullopt;
}
constexpr std::optional<Past> past_named(std::string_view name) {
    for (const Past past : {Past::AsSent, Past::Now}) {
        if (name == name_of(past)) {
            return past;
        }
    }
    return std::nullopt;
}

// How a config version is named outside, for example "cfg-7".
inline std::string config_id_text(ConfigId id) {
    return "cfg-" + std::to_string(static_cast<std::uint32_t>(id));
}

}  // namespace sluice
