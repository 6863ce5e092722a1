#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "base/time.hpp"

namespace sluice {

// How long to wait after each failure. Waiting is never shorter than the schedule or the receiver says, and
// up to a tenth longer, so that what failed together does not come back together.
// Thread safety: immutable.
class RetrySchedule {
public:
    // 5 s, 30 s, 2 min, 10 min, 1 h, 3 h, 6 h, 12 h.
    RetrySchedule();
    // An empty one: nothing is tried twice. REQUIRES: at most kPausesMax, all positive.
    explicit RetrySchedule(std::vector<Duration> pauses) : pauses_{std::move(pauses)} {}
    static constexpr std::size_t kPausesMax = 32;
    static constexpr Duration kHeededMax = std::chrono::hours{24};

    // The pause after the `failed`th failure (from 1 on), or nothing: it was the last try. `asked` is what
    // the receiver asked for; up to kHeededMax of it is heeded.
    [[nodiscard]] std::optional<Duration> pause_after(std::uint32_t failed, std::optional<Duration> asked,
                                                      Random& random) const;

    [[nodiscard]] std::span<const Duration> pauses() const { return pauses_; }
    bool operator==(const RetrySchedule&) const = default;

private:
    std::vector<Duration> pauses_;
};

}  // namespace sluice
