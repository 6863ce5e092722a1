#include "core/governor/wal_watch.hpp"

#include <type_traits>

namespace sluice {

static_assert(std::is_trivially_copyable_v<WalWatch> && std::is_trivially_destructible_v<WalWatch>);

void WalWatch::follow(const WalReading& reading) {
    baseline_ = reading;
    has_baseline_ = true;
    quiet_ = 0;
}

std::optional<WalInterval> WalWatch::close(const WalReading& reading, const WalWatchPolicy& policy) {
    auto interval = peek(reading);
    const bool resized = has_baseline_ && baseline_.size != reading.size;
    if (has_baseline_ && reading.wal_position >= baseline_.wal_position) {
        rates_.add(static_cast<std::int64_t>(reading.wal_position - baseline_.wal_position),
                   reading.at_ms - baseline_.at_ms, policy.checkpoint_ms);
    }
    baseline_ = reading;
    has_baseline_ = true;
    if (!interval) {
        return std::nullopt;
    }
    if (interval->forced >= policy.threshold) {
        quiet_ = 0;
    } else {
        quiet_ = resized ? 1 : quiet_ + 1;
    }
    interval->quiet = quiet_;
    return interval;
}

std::optional<WalInterval> WalWatch::peek(const WalReading& reading) const {
    if (!has_baseline_) {
        return std::nullopt;
    }
    const auto forced = forced_between(baseline_.count, reading.count);
    if (!forced) {
        return std::nullopt;
    }
    return WalInterval{*forced, quiet_, reading.at_ms - baseline_.at_ms};
}

}  // namespace sluice
