#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "app/limits/limit_observer.hpp"
#include "main/tally.hpp"
#include "store/memory/memory_limit_store.hpp"

namespace prometheus {
struct MetricFamily;
}

namespace sluice {

// What operators measure of limits. Plans have a label each up to kPlanLabels; later ones share "other".
// Thread safety: all of it.
class LimitFigures final : public LimitMetrics {
public:
    static constexpr std::size_t kPlanLabels = 200;

    void decided(const LimitAnswer& answer) override;
    void store_failed(StoreFailure failure) override;
    void store_called(std::size_t checks, std::chrono::nanoseconds duration) override;
    void store_spared(StoreSpared by) override;
    void server_changed(ServerState state) override;

    // Appends every family, with the plans that are in force.
    void collect(std::vector<prometheus::MetricFamily>& families, const PlanSet& plans,
                 const std::optional<MemoryLimitFigures>& memory) const;

private:
    using Count = std::atomic<std::uint64_t>;
    // The reasons, and a denial of a local plan, which has the same reason as what it allows.
    static constexpr std::size_t kResults = 8;
    static constexpr std::size_t kFailures = 4;
    static constexpr std::size_t kSparings = 2;
    static constexpr std::int64_t kMicrosecond = 1'000;
    static constexpr std::int64_t kMillisecond = 1'000'000;

    // The last row is "other".
    std::array<std::array<Count, kResults>, kPlanLabels + 1> decided_{};
    std::array<Count, kFailures> failures_{};
    std::array<Count, kSparings> spared_{};
    std::atomic<std::int64_t> servers_down_{0};
    Count breaker_openings_{0};
    Tally<9> durations_{{100 * kMicrosecond, 250 * kMicrosecond, 500 * kMicrosecond, kMillisecond,
                         2'500 * kMicrosecond, 5 * kMillisecond, 10 * kMillisecond, 25 * kMillisecond,
                         50 * kMillisecond}};
    Tally<9> batches_{{1, 2, 4, 8, 16, 32, 64, 128, 256}};
};

}  // namespace sluice
