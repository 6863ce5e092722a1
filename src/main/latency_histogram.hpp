#pragma once

#include <array>
#include <bit>
#include <chrono>
#include <cstdint>

namespace sluice {

// Counts durations in buckets that grow with them, each at most 1/64 (1.6 %) wide, in constant memory.
class LatencyHistogram {
public:
    void record(std::chrono::nanoseconds duration) {
        const auto value = static_cast<std::uint64_t>(duration.count() > 0 ? duration.count() : 0);
        ++counts_[index_of(value)];
        ++total_;
        most_ = value > most_ ? value : most_;
    }

    // The duration that the given share of all does not exceed, as its bucket's upper end; 0 when there is
    // none.
    // REQUIRES: 0 < share <= 1.
    [[nodiscard]] std::chrono::nanoseconds quantile(double share) const {
        const auto rank = static_cast<std::uint64_t>(share * static_cast<double>(total_) + 0.999999);
        std::uint64_t seen = 0;
        for (std::size_t i = 0; i < counts_.size(); ++i) {
            seen += counts_[i];
            if (seen >= rank && seen > 0) {
                const std::uint64_t end = upper_end(i);
                return std::chrono::nanoseconds{end < most_ ? end : most_};
            }
        }
        return std::chrono::nanoseconds{0};
    }

    [[nodiscard]] std::uint64_t total() const { return total_; }
    [[nodiscard]] std::chrono::nanoseconds most() const { return std::chrono::nanoseconds{most_}; }

private:
    static constexpr unsigned kBits = 6;  // 64 buckets for each doubling.

    static std::size_t index_of(std::uint64_t value) {
        if (value < (1U << kBits)) {
            return value;
        }
        const auto shift = static_cast<unsigned>(std::bit_width(value)) - kBits - 1;
        return ((shift + 1U) << kBits) + ((value >> shift) - (1U << kBits));
    }

    static std::uint64_t upper_end(std::size_t index) {
        if (index < (1U << kBits)) {
            return index;
        }
        const std::size_t shift = (index >> kBits) - 1;
        const std::uint64_t start = ((index & ((1U << kBits) - 1)) + (1U << kBits)) << shift;
        return start + (std::uint64_t{1} << shift) - 1;
    }

    std::array<std::uint64_t, (64 - kBits + 1) << kBits> counts_{};
    std::uint64_t total_ = 0;
    std::uint64_t most_ = 0;
};

}  // namespace sluice
