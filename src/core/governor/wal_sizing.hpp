#pragma once

#include <cstdint>
#include <optional>

namespace sluice {

// Sizes of PostgreSQL's write-ahead log, in MB. PostgreSQL itself holds them in 31 bits.
using Megabytes = std::int64_t;
inline constexpr Megabytes kMegabytesMax = 2'147'483'647;

// A factor below one in billionths: a percentage is exact in it, which it is not in floating point, where a
// ceiling would now and then be one too high.
using Billionths = std::int64_t;
Billionths to_billionths(double factor);

struct WalSizingPolicy {
    std::int64_t threshold = 2;  // Forced checkpoints in one interval that make it grow.
    Megabytes size_max = 4096;
    Megabytes size_min = 1024;  // Never shrinks below; above size_max, that counts instead.
    // What the server itself needs: no size below it is ever proposed, whatever the others say.
    Megabytes size_floor = 0;
    bool shrink_enabled = true;
    Billionths shrink_factor = 750'000'000;
    std::int64_t shrink_intervals = 5;  // Quiet ones in a row before it shrinks.
};

// What one interval showed.
struct WalObservation {
    Megabytes current = 0;
    std::int64_t forced = 0;  // Checkpoints in the interval because of the size.
    std::int64_t quiet = 0;   // Quiet intervals in a row, this one included.
    // What the measured rate of WAL needs; nothing: not asked for, or not measured long enough.
    std::optional<Megabytes> needed{};
};

enum class WalAction : std::uint8_t { None, Increase, Capped, Decrease };

// Why it grows or shrinks, or why it does neither.
enum class WalReason : std::uint8_t {
    ForcedCheckpoints,
    MeasuredRate,
    SustainedLowActivity,
    AtMaximum,
    ShrinkDisabled,
    NotQuietLongEnough,
    AtMinimum,
    NothingToGain
};

struct WalProposal {
    WalAction action = WalAction::None;
    WalReason reason = WalReason::AtMaximum;
    Megabytes target = 0;      // The current size when the action is None.
    Megabytes calculated = 0;  // Before size_max or size_min was applied.
};

// What is to be done after an interval. Grows when the measured rate needs more, or when `forced` reaches the
// threshold: to current * (forced + 1), saturating, at most size_max. Otherwise shrinks, once quiet for long
// enough, to the ceiling of current * shrink_factor, but neither below size_min nor below what is needed.
// Where size_max lies below size_floor it shrinks no further than the floor, and does not grow.
WalProposal propose(const WalSizingPolicy& policy, const WalObservation& observation);

// How sure a recommendation is, in percent.
struct WalEvidence {
    std::int64_t requested = 0;  // Checkpoints counted since the server's statistics began.
    std::int64_t quiet = 0;
    bool baseline = false;  // Whether there is something to compare with.
};
int confidence(const WalEvidence& evidence);

}  // namespace sluice
