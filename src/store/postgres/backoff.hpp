#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "base/random.hpp"

namespace sluice::postgres {

// How long to wait before trying again: 50 ms, doubled after each failure up to 2 s, of which a random half
// is left out, so that many nodes do not come back in one moment.
// Thread safety: none.
class Backoff {
public:
    static constexpr std::chrono::milliseconds kFirst{50};
    static constexpr std::chrono::milliseconds kMost{2000};

    explicit Backoff(std::uint64_t seed) : random_{seed} {}

    std::chrono::milliseconds next() {
        const auto whole = wait_;
        wait_ = std::min(wait_ * 2, kMost);
        const auto half = static_cast<std::uint64_t>(whole.count() / 2);
        return std::chrono::milliseconds{whole.count() - static_cast<std::int64_t>(random_.below(half + 1))};
    }

    void reset() { wait_ = kFirst; }

private:
    Random random_;
    std::chrono::milliseconds wait_ = kFirst;
};

}  // namespace sluice::postgres
