#include "core/governor/wal_rates.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace sluice {

static_assert(std::is_trivially_copyable_v<WalRates> && std::is_trivially_destructible_v<WalRates>);

void WalRates::add(std::int64_t bytes, std::int64_t elapsed_ms, std::int64_t interval_ms) {
    if (elapsed_ms <= 0) {
        return;
    }
    const double scaled =
        static_cast<double>(bytes) * static_cast<double>(interval_ms) / static_cast<double>(elapsed_ms);
    constexpr double kScaledMax = 9.0e18;  // Below what 63 bits hold.
    bytes_[next_] = static_cast<std::int64_t>(std::min(scaled, kScaledMax));
    next_ = (next_ + 1) % kSamplesMax;
    count_ = std::min(count_ + 1, kSamplesMax);
}

std::optional<std::int64_t> WalRates::p95() const {
    if (count_ < kSamplesMin) {
        return std::nullopt;
    }
    auto sorted = bytes_;
    const auto end = sorted.begin() + static_cast<std::ptrdiff_t>(count_);
    const auto rank = static_cast<std::ptrdiff_t>((count_ * 95 + 99) / 100 - 1);
    std::nth_element(sorted.begin(), sorted.begin() + rank, end);
    return sorted[static_cast<std::size_t>(rank)];
}

Megabytes size_needed(std::int64_t bytes, double completion_target) {
    constexpr double kHeadroom = 1.2;
    constexpr double kMegabyte = 1024.0 * 1024.0;
    const double size =
        std::ceil(static_cast<double>(bytes) / kMegabyte * (1.0 + completion_target) * kHeadroom);
    return static_cast<Megabytes>(std::min(size, static_cast<double>(kMegabytesMax)));
}

}  // namespace sluice
