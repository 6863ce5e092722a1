#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "app/dispatch/dispatch_observer.hpp"
#include "app/dispatch/dispatcher.hpp"
#include "main/tally.hpp"

namespace prometheus {
struct MetricFamily;
}

namespace sluice {

// What operators measure of dispatch. Every series of a target is there from the start.
// Thread safety: all of it.
class DispatchTallies final : public DispatchMetrics {
public:
    void began(TargetKind target, Duration lateness) override;
    void sent(TargetKind target) override { bump(sent_, target); }
    void retried(TargetKind target) override { bump(retried_, target); }
    void died(TargetKind target) override { bump(died_, target); }
    void lost(TargetKind target) override { bump(lost_, target); }
    // Relaxed, as all of them: see Tally.
    void store_failed() override { store_failures_.fetch_add(1, std::memory_order_relaxed); }

    void became_keeper() override { became_keeper_.fetch_add(1, std::memory_order_relaxed); }
    void lost_keeper() override { lost_keeper_.fetch_add(1, std::memory_order_relaxed); }

    // Appends every family.
    void collect(std::vector<prometheus::MetricFamily>& families, const DispatchFigures& state,
                 const std::vector<LaneCount>& lanes) const;

private:
    static constexpr std::size_t kTargets = 3;
    using Counts = std::array<std::atomic<std::uint64_t>, kTargets>;

    static void bump(Counts& counts, TargetKind target) {
        counts.at(static_cast<std::size_t>(target) - 1).fetch_add(1, std::memory_order_relaxed);
    }

    Counts sent_{};
    Counts retried_{};
    Counts died_{};
    Counts lost_{};
    std::atomic<std::uint64_t> store_failures_{0};
    std::atomic<std::uint64_t> became_keeper_{0};
    std::atomic<std::uint64_t> lost_keeper_{0};
    Tally<14> lateness_{{1, 2, 5, 10, 25, 50, 100, 250, 1'000, 4'000, 15'000, 60'000, 600'000, 3'600'000}};
};

}  // namespace sluice
