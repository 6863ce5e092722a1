#pragma once

#include <cstdint>
#include <optional>

namespace sluice {

// How many checkpoints there have been so far, by two counters.
struct CheckpointCount {
    std::int64_t requested = 0;   // All that were asked for, by hand too; a reset of statistics zeroes it.
    std::int64_t wal_driven = 0;  // Those that the amount of WAL forced.
    bool wal_heard = false;       // Whether wal_driven was being counted.
};

// The checkpoints between two counts that count as forced: the WAL-driven ones where both counts know them,
// else all requested ones. Nothing, if the counter went back: the statistics were reset in between.
constexpr std::optional<std::int64_t> forced_between(const CheckpointCount& before,
                                                     const CheckpointCount& after) {
    const bool heard = before.wal_heard && after.wal_heard;
    const std::int64_t forced =
        heard ? after.wal_driven - before.wal_driven : after.requested - before.requested;
    return forced < 0 ? std::nullopt : std::optional{forced};
}

}  // namespace sluice
