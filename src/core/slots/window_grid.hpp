#pragma once

#include <cstdint>

#include "base/time.hpp"

namespace sluice {

// The number of a window, counted from 1970.
using WindowIndex = std::int64_t;

// How many places events take in a window.
using Places = std::uint32_t;

// Cuts time into windows of one size, aligned to 1970: window = t - (t mod size).
// REQUIRES: size > 0 and instants not before 1970.
class WindowGrid {
public:
    explicit WindowGrid(Duration size) : size_{size} {}

    [[nodiscard]] Duration size() const { return size_; }
    [[nodiscard]] WindowIndex index_of(Instant instant) const { return instant.time_since_epoch() / size_; }
    [[nodiscard]] Instant start_of(WindowIndex index) const { return Instant{size_ * index}; }

private:
    Duration size_;
};

}  // namespace sluice
