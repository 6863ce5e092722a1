#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "app/gateway/gateway_observer.hpp"
#include "main/tally.hpp"

namespace prometheus {
struct MetricFamily;
}

namespace sluice {

// What operators measure of the gateway. Every series is there from the start.
// Thread safety: all of it.
class GatewayTallies final : public GatewayMetrics {
public:
    // Relaxed, as all of them: see Tally.
    void answered(SendOutcome outcome) override {
        sends_.at(static_cast<std::size_t>(outcome)).fetch_add(1, std::memory_order_relaxed);
    }
    void reserved(std::size_t messages) override { batches_.add(static_cast<std::int64_t>(messages)); }
    void handed_over(std::chrono::nanoseconds duration) override {
        handing_over_.add(std::chrono::duration_cast<std::chrono::microseconds>(duration).count());
    }
    void left_outbox(MessageState state) override {
        (state == MessageState::Sent ? sent_ : expired_).fetch_add(1, std::memory_order_relaxed);
    }
    void sender_failed() override { sender_failures_.fetch_add(1, std::memory_order_relaxed); }

    // Appends every family.
    void collect(std::vector<prometheus::MetricFamily>& families) const;

private:
    std::array<std::atomic<std::uint64_t>, kSendOutcomes> sends_{};
    std::atomic<std::uint64_t> sent_{0};
    std::atomic<std::uint64_t> expired_{0};
    std::atomic<std::uint64_t> sender_failures_{0};
    Tally<9> batches_{{1, 2, 4, 8, 16, 32, 64, 128, 256}};
    Tally<10> handing_over_{
        {500, 1'000, 2'500, 5'000, 10'000, 50'000, 250'000, 1'000'000, 5'000'000, 10'000'000}};
};

}  // namespace sluice
