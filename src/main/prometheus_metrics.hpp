#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "app/slots/slot_observer.hpp"
#include "app/slots/slot_tables.hpp"
#include "main/limit_figures.hpp"
#include "main/tally.hpp"
#include "store/postgres/client/connection_pool.hpp"
#include "store/postgres/client/server_lives.hpp"
#include "store/postgres/slots/store_health.hpp"

namespace sluice {

// Figures that others keep, at the moment of asking.
struct OutsideFigures {
    std::uint64_t log_lines_dropped = 0;
    std::uint64_t http_connections = 0;
    std::optional<postgres::PoolFigures> pool{};  // Empty: there is none.
    std::optional<StoreSpace> store_space{};      // Empty: the store is not on a disk of ours.
    postgres::ServerFigures server{};             // Of the server of that pool.
    postgres::HealthFigures health{};
    std::shared_ptr<const PlanSet> plans{};  // Null: limits are not told.
    std::optional<MemoryLimitFigures> limit_keys{};
};

// What operators measure, in Prometheus's text form. Every series is there from the start.
// The counting is its own: prometheus::Histogram::Observe takes a lock, which a reader of the metrics holds
// while it copies, and two of them would lie on the path of every assignment.
// Thread safety: all of it.
class PrometheusMetrics final : public SlotMetrics, public postgres::PoolMetrics {
public:
    void assigned(std::chrono::nanoseconds duration, std::int64_t depth) override;
    void repeated(std::chrono::nanoseconds duration) override;
    void exhausted() override { bump(exhausted_); }
    void contended() override { bump(contended_); }
    void refused() override { bump(refused_); }
    void batch_run(std::size_t commands) override;
    void config_cache_hit() override { bump(cache_hits_); }
    void config_cache_miss() override { bump(cache_misses_); }

    void waited(std::chrono::nanoseconds duration) override { pool_waits_.add(duration.count()); }

    // What limits are measured by.
    LimitFigures& limits() { return limits_; }

    [[nodiscard]] std::string text(const OutsideFigures& outside) const;

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
    Tally<7> pool_waits_{{100 * kMicrosecond, kMillisecond, 10 * kMillisecond, 100 * kMillisecond,
                          500 * kMillisecond, kSecond, 5 * kSecond}};
    Tally<15> depths_{{0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1'000, 2'000, 5'000, 10'000, 100'000}};
    Tally<10> batches_{{1, 2, 4, 8, 16, 32, 64, 128, 256, 1'024}};
    Count assigned_{0};
    Count repeated_{0};
    Count exhausted_{0};
    Count contended_{0};
    Count refused_{0};
    Count cache_hits_{0};
    Count cache_misses_{0};
    LimitFigures limits_;
};

}  // namespace sluice
