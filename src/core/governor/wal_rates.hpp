#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/governor/wal_sizing.hpp"

namespace sluice {

// How much WAL the last checkpoint intervals wrote: a ring of the newest 96 (eight hours of five minutes).
// A value without pointers, so that it may lie in shared memory. Thread safety: none.
class WalRates {
public:
    static constexpr std::size_t kSamplesMax = 96;
    // With fewer samples nothing is said: a single burst is no rate.
    static constexpr std::size_t kSamplesMin = 3;

    // What an interval of `elapsed_ms` wrote, counted as if it had lasted `interval_ms`.
    // REQUIRES: all positive or zero; interval_ms at most a day. An interval without length is left out.
    void add(std::int64_t bytes, std::int64_t elapsed_ms, std::int64_t interval_ms);

    [[nodiscard]] std::size_t samples() const { return count_; }

    // The 95th percentile of bytes per interval by nearest rank.
    [[nodiscard]] std::optional<std::int64_t> p95() const;

private:
    std::array<std::int64_t, kSamplesMax> bytes_{};
    std::size_t count_ = 0;
    std::size_t next_ = 0;
};

// The max_wal_size at which an interval that writes `bytes` forces no checkpoint. PostgreSQL starts one when
// a share 1 / (1 + completion target) of the size has been written since the last; a fifth is added as
// headroom.
Megabytes size_needed(std::int64_t bytes, double completion_target);

}  // namespace sluice
