#pragma once

#include <vector>

#include "main/tally.hpp"
#include "store/postgres/client/server.hpp"

namespace prometheus {
struct MetricFamily;
}

namespace sluice {

// What operators measure of the PostgreSQL that all parts share.
// Thread safety: all of it.
class PostgresFigures final : public postgres::PoolMetrics {
public:
    void waited(std::chrono::nanoseconds duration) override { waits_.add(duration.count()); }

    // Appends every family.
    void collect(std::vector<prometheus::MetricFamily>& families, postgres::Server& server) const;

private:
    static constexpr std::int64_t kMicrosecond = 1'000;
    static constexpr std::int64_t kMillisecond = 1'000'000;
    static constexpr std::int64_t kSecond = 1'000'000'000;

    Tally<7> waits_{{100 * kMicrosecond, kMillisecond, 10 * kMillisecond, 100 * kMillisecond,
                     500 * kMillisecond, kSecond, 5 * kSecond}};
};

}  // namespace sluice
