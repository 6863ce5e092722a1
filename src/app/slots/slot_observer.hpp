#pragma once

#include <chrono>
#include <cstdint>

namespace sluice {

// What operators measure of slots.
// Thread safety: any thread; never blocks for long.
class SlotMetrics {
public:
    virtual ~SlotMetrics() = default;
    virtual void assigned(std::chrono::nanoseconds duration, std::int64_t depth) = 0;
    virtual void repeated(std::chrono::nanoseconds duration) = 0;
    virtual void exhausted() = 0;
    virtual void contended() = 0;
    virtual void refused() = 0;  // The queue was full or the deadline passed.
    virtual void batch_run(std::size_t commands) = 0;
    virtual void config_cache_hit() = 0;
    virtual void config_cache_miss() = 0;
};

}  // namespace sluice
