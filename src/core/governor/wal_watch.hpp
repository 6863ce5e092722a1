#pragma once

#include <cstdint>
#include <optional>

#include "core/governor/checkpoint_count.hpp"
#include "core/governor/wal_rates.hpp"
#include "core/governor/wal_sizing.hpp"

namespace sluice {

// The server at one moment.
struct WalReading {
    CheckpointCount count;
    Megabytes size = 0;              // max_wal_size in force.
    std::uint64_t wal_position = 0;  // Bytes of WAL ever written.
    std::int64_t at_ms = 0;          // By a clock that never steps back.
};

// What lies between two readings.
struct WalInterval {
    std::int64_t forced = 0;
    std::int64_t quiet = 0;  // Quiet intervals in a row, this one included; 0 if it was not quiet.
    std::int64_t elapsed_ms = 0;
};

// How intervals are told apart.
struct WalWatchPolicy {
    std::int64_t threshold = 2;         // From here on an interval is not quiet.
    std::int64_t checkpoint_ms = 1000;  // The length that rates are counted for.
};

// Turns readings into intervals. A value without pointers, for shared memory. Thread safety: none.
class WalWatch {
public:
    // The next reading is compared with nothing: after a start, a reset, or a pause in watching.
    void forget() { has_baseline_ = false; }

    // Takes a reading as the new baseline without judging what lies behind it. Ends a run of quiet intervals.
    void follow(const WalReading& reading);

    // Ends an interval. Nothing, when there was no baseline or the counters went back; then this reading is
    // the baseline, and neither a forced checkpoint nor a quiet interval is made up.
    // Where the size changed, by whomever, quiet intervals count anew from this one on.
    std::optional<WalInterval> close(const WalReading& reading, const WalWatchPolicy& policy);

    // The interval under way, as far as it has come; `quiet` counts the intervals before it.
    [[nodiscard]] std::optional<WalInterval> peek(const WalReading& reading) const;

    void end_quiet() { quiet_ = 0; }
    [[nodiscard]] std::int64_t quiet() const { return quiet_; }
    [[nodiscard]] bool has_baseline() const { return has_baseline_; }
    [[nodiscard]] const WalRates& rates() const { return rates_; }

private:
    WalReading baseline_{};
    bool has_baseline_ = false;
    std::int64_t quiet_ = 0;
    WalRates rates_{};
};

}  // namespace sluice
