#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.hpp"
#include "core/slots/slot.hpp"

namespace sluice {

enum class TargetKind : std::uint8_t { Log = 1, Webhook = 2, Kafka = 3 };

// Where work goes when its time has come.
struct Target {
    TargetKind kind = TargetKind::Log;
    std::string address{};  // The URL of a webhook, the topic of Kafka. Empty for the log.

    bool operator==(const Target&) const = default;
};

// Whom a target reaches, as its carrier reads it.
struct Route {
    std::string host{};      // Whose rate and pauses hold for it. Empty: nobody's.
    std::string endpoint{};  // Who fails, is parked and has a bound of its own: for a webhook scheme, host,
                             // port and path. Empty: nobody.

    bool operator==(const Route&) const = default;
};

inline constexpr std::size_t kPayloadMax = 16 * 1024;

// The work that an event brings along. It is stored with the slot and never changed.
struct WorkOrder {
    Target target;
    Route route{};
    std::string payload{};  // Goes out byte for byte as it came.
    // Not begun this long after its scheduled time, it is not sent any more.
    std::optional<Duration> expires_after{};
    std::string traceparent{};  // Of whoever asked. Empty: nothing was given.

    bool operator==(const WorkOrder&) const = default;
};

enum class WorkState : std::uint8_t {
    Pending = 1,   // Waits for its time, or for its turn.
    Claimed = 2,   // On its way; whether it arrived is not known yet.
    Sent = 3,      // Arrived. Final.
    Retrying = 4,  // Failed, and will be tried again.
    Dead = 5,      // Failed for good; somebody has to decide.
    Parked = 6,    // Its endpoint said that it is gone; waits until somebody resumes it.
    Expired = 7,   // Was not begun in time; somebody has to decide.
    Withdrawn = 8  // Its slot was cancelled. Final.
};

constexpr std::string_view name_of(WorkState state) {
    switch (state) {
        case WorkState::Pending: return "pending";
        case WorkState::Claimed: return "claimed";
        case WorkState::Sent: return "sent";
        case WorkState::Retrying: return "retrying";
        case WorkState::Dead: return "dead";
        case WorkState::Parked: return "parked";
        case WorkState::Expired: return "expired";
        case WorkState::Withdrawn: return "withdrawn";
    }
    return "";
}

// Nothing will ever happen to it again.
constexpr bool is_final(WorkState state) { return state == WorkState::Sent || state == WorkState::Withdrawn; }

// A queue of works, in the order of their times. Work that is not final stands in exactly one. All begin in
// Due; one whose time has come but that cannot go yet is set aside in the lane of what keeps it, so that it
// is not looked at again before that changes, and keeps nobody behind it.
enum class LaneKind : std::uint8_t {
    Due = 1,       // Everybody's. No name.
    Pool = 2,      // Kept by the rate, the cap or a pause of a pool; in the window of its scheduled time.
    Late = 3,      // The same, but its window has gone by, or it failed before: has a share of each window.
    Host = 4,      // Kept by the rate or a pause of a host.
    Endpoint = 5,  // Kept by an endpoint that is busy, failing or parked.
    Config = 6,    // Kept by a pause of a config.
    Claimed = 7,   // On its way; its time is the end of its claim. No name.
    Dead = 8       // Dead or expired; its time is when it became so. No name.
};

struct Lane {
    LaneKind kind = LaneKind::Due;
    std::string name{};

    auto operator<=>(const Lane&) const = default;
};

// How the work of an event stands.
struct Work {
    EventId event_id;
    ConfigName config;
    PoolName pool;
    Route route;
    TargetKind target = TargetKind::Log;
    Instant scheduled;
    Places weight = 1;
    std::optional<Instant> expires{};  // Not begun by then, it is not sent any more.
    WorkState state = WorkState::Pending;
    Lane lane{};
    // When it may be tried next; of a claimed one, when its claim ends by itself; of a dead or final one,
    // since when it is so.
    Instant due;
    std::uint32_t attempts = 0;  // Begun so far; while it is claimed, the number of the one under way.
    std::uint32_t tries = 0;     // The same, counted from the last replay: how far its retries have come.

    bool operator==(const Work&) const = default;
};

}  // namespace sluice
