#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace sluice {

// Counts whole numbers by size. A number belongs to the first bucket whose bound it does not exceed; those
// above all bounds are counted too.
// Thread safety: all of it.
template <std::size_t N>
class Tally {
public:
    explicit constexpr Tally(const std::array<std::int64_t, N>& bounds) : bounds_{bounds} {}

    void add(std::int64_t value) {
        std::size_t bucket = 0;
        while (bucket < N && value > bounds_[bucket]) {
            ++bucket;
        }
        // Relaxed: each is a plain count that nothing else is ordered by; a reader may see one before the
        // other.
        counts_[bucket].fetch_add(1, std::memory_order_relaxed);
        sum_.fetch_add(value, std::memory_order_relaxed);
    }

    [[nodiscard]] const std::array<std::int64_t, N>& bounds() const { return bounds_; }
    [[nodiscard]] std::uint64_t count(std::size_t bucket) const {
        return counts_[bucket].load(std::memory_order_relaxed);
    }
    [[nodiscard]] std::int64_t sum() const { return sum_.load(std::memory_order_relaxed); }

private:
    const std::array<std::int64_t, N> bounds_;
    std::array<std::atomic<std::uint64_t>, N + 1> counts_{};
    std::atomic<std::int64_t> sum_{0};
};

}  // namespace sluice
