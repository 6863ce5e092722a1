#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "base/random.hpp"

namespace sluice {

// How long to wait before trying again: `first`, doubled after each failure up to `most`, of which a random
// half is left out, so that many nodes do not come back in one moment.
// Thread safety: none.
class Backoff {
public:
    using Pause = std::chrono::milliseconds;
    struct Bounds {
        Pause first;
        Pause most;
    };

    Backoff(Bounds bounds, std::uint64_t seed) : bounds_{bounds}, random_{seed}, pause_{bounds.first} {}

    Pause next() {
        const Pause whole = pause_;
        pause_ = std::min(pause_ * 2, bounds_.most);
        const auto half = static_cast<std::uint64_t>(whole.count() / 2);
        return whole - Pause{random_.below(half + 1)};
    }

    void reset() { pause_ = bounds_.first; }

private:
    const Bounds bounds_;
    Random random_;
    Pause pause_;
};

}  // namespace sluice
