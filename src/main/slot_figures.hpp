#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "app/slots/slot_observer.hpp"
#include "app/slots/slot_tables.hpp"
#include "main/tally.hpp"
#include "store/postgres/slots/store_health.hpp"

namespace prometheus {
struct MetricFamily;
}

namespace sluice {

// What operators measure of slots. Every series is there from the start.
// The counting is its own: prometheus::Histogram::Observe takes a lock, which a reader of the metrics holds
// while it copies, and two of them would lie on the path of every assignment.
// Thread safety: all of it.
class SlotFigures final : public SlotMetrics {
public:
    void assigned(std::chrono::nanoseconds duration, std::int64_t depth) override;
    void repeated(std::chrono::nanoseconds duration) override;
    void exhausted() override { bump(exhausted_); }
    void contended() override { bump(contended_); }
    void refused() override { bump(refused_); }
    void batch_run(std::size_t commands) override;
    void config_cache_hit() override { bump(cache_hits_); }
    void config_cache_miss() override { bump(cache_misses_); }

    // Appends every family.
    void collect(std::vector<prometheus::MetricFamily>& families) const;

private:
    using Count = std::atomic<std::uint64_t>;
    // Relaxed: see Tally.
    static void bump(Count& count) { count.fetch_add(1, std::memory_order_relaxed); }

    static constexpr std::int64_t kMicrosecond = 1'000;
    static constexpr std::int64_t kMillisecond = 1'000'000;
    static constexpr std::int64_t kSecond = 1'000'000'000;

    Tally<15> durations_{{100 * kMicrosecond, 250 * kMicrosecond, 500 * kMicrosecond, kMillisecond,
                          2'500 * kMicrosecond, 5 * kMillisecond, 10 * kMillisecond, 25 * kMillisecond,
                          50 * kMillisecond, 100 * kMillisecond, 250 * kMillisecond, 500 * kMillisecond,
                          kSecond, 2'500 * kMillisecond, 5 * kSecond}};
    Tally<15> depths_{{0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1'000, 2'000, 5'000, 10'000, 100'000}};
    Tally<10> batches_{{1, 2, 4, 8, 16, 32, 64, 128, 256, 1'024}};
    Count assigned_{0};
    Count repeated_{0};
    Count exhausted_{0};
    Count contended_{0};
    Count refused_{0};
    Count cache_hits_{0};
    Count cache_misses_{0};
};

// Appends what is known of the store under the slots: the room on its disk, or the health of its server.
void add_figures(std::vector<prometheus::MetricFamily>& families, const StoreSpace& space);
void add_figures(std::vector<prometheus::MetricFamily>& families, const postgres::HealthFigures& health);

}  // namespace sluice
