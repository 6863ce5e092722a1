#pragma once

#include <atomic>

#include "base/time.hpp"

namespace sluice::rocks {

// The horizon that is stored, for those who read rows and those who sort them.
// Thread safety: all of it.
class Horizon {
public:
    [[nodiscard]] Instant get() const { return Instant{Duration{at_.load(std::memory_order_acquire)}}; }
    // REQUIRES: it is durable, because rows go for good by it.
    void set(Instant horizon) { at_.store(horizon.time_since_epoch().count(), std::memory_order_release); }

private:
    std::atomic<Duration::rep> at_ = 0;
};

}  // namespace sluice::rocks
