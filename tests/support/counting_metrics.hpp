#pragma once

#include <atomic>
#include <cstdint>

#include "app/slots/slot_observer.hpp"

namespace sluice::test {

// Counts what was measured.
// Thread safety: all of it.
class CountingMetrics final : public SlotMetrics {
public:
    void assigned(std::chrono::nanoseconds duration, std::int64_t depth) override {
        ++assigned_count;
        last_depth = depth;
        negative_durations += duration.count() < 0 ? 1U : 0U;
    }
    void repeated(std::chrono::nanoseconds duration) override {
        ++repeated_count;
        negative_durations += duration.count() < 0 ? 1U : 0U;
    }
    void exhausted() override { ++exhausted_count; }
    void contended() override { ++contended_count; }
    void refused() override { ++refused_count; }
    void batch_run(std::size_t commands) override {
        ++batches;
        commands_run += commands;
    }
    void config_cache_hit() override { ++hits; }
    void config_cache_miss() override { ++misses; }

    std::atomic<std::uint64_t> assigned_count = 0;
    std::atomic<std::uint64_t> repeated_count = 0;
    std::atomic<std::uint64_t> exhausted_count = 0;
    std::atomic<std::uint64_t> contended_count = 0;
    std::atomic<std::uint64_t> refused_count = 0;
    std::atomic<std::uint64_t> batches = 0;
    std::atomic<std::uint64_t> commands_run = 0;
    std::atomic<std::uint64_t> hits = 0;
    std::atomic<std::uint64_t> misses = 0;
    std::atomic<std::uint64_t> negative_durations = 0;
    std::atomic<std::int64_t> last_depth = 0;
};

}  // namespace sluice::test
