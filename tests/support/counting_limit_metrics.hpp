#pragma once

#include <array>
#include <atomic>

#include "app/limits/limit_observer.hpp"

namespace sluice::test {

// Counts what was measured of limits.
// Thread safety: all of it.
class CountingLimitMetrics final : public LimitMetrics {
public:
    void decided(const LimitAnswer& answer) override {
        ++reasons.at(static_cast<std::size_t>(answer.reason));
    }
    void store_failed(StoreFailure failure) override { ++failures.at(static_cast<std::size_t>(failure)); }
    void store_called(std::size_t checks, std::chrono::nanoseconds /*duration*/) override {
        ++store_calls;
        store_checks += checks;
    }
    void store_spared(StoreSpared by) override { ++spared.at(static_cast<std::size_t>(by)); }
    void server_changed(ServerState state) override { ++states.at(static_cast<std::size_t>(state)); }

    [[nodiscard]] std::uint64_t count(LimitReason reason) const {
        return reasons.at(static_cast<std::size_t>(reason));
    }
    [[nodiscard]] std::uint64_t count(StoreFailure failure) const {
        return failures.at(static_cast<std::size_t>(failure));
    }
    [[nodiscard]] std::uint64_t count(ServerState state) const {
        return states.at(static_cast<std::size_t>(state));
    }
    [[nodiscard]] std::uint64_t count(StoreSpared by) const {
        return spared.at(static_cast<std::size_t>(by));
    }

    std::array<std::atomic<std::uint64_t>, 7> reasons{};
    std::array<std::atomic<std::uint64_t>, 4> failures{};
    std::array<std::atomic<std::uint64_t>, 2> states{};
    std::array<std::atomic<std::uint64_t>, 2> spared{};
    std::atomic<std::uint64_t> store_calls = 0;
    std::atomic<std::uint64_t> store_checks = 0;
};

}  // namespace sluice::test
