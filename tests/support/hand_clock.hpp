#pragma once

#include <atomic>

#include "base/time.hpp"

namespace sluice::test {

// A clock that stands still until a test moves it.
// Thread safety: all of it.
class HandClock final : public Clock {
public:
    explicit HandClock(Instant now) : now_{now} {}

    [[nodiscard]] Instant now() const override { return now_.load(); }
    void set(Instant now) { now_.store(now); }
    void advance(Duration by) { now_.store(now_.load() + by); }

private:
    std::atomic<Instant> now_;
};

}  // namespace sluice::test
