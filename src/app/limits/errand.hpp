#pragma once

#include <atomic>
#include <deque>
#include <string>
#include <vector>

#include "app/limits/limit_service.hpp"

namespace sluice {

// Checks on their way to a blocking store and back. Concluded once: by the store, or by its deadline.
// Thread safety: is_over() and claim() from any thread; the rest is written before the errand is shared, and
// afterwards only by whoever claimed it.
class LimitService::Errand final : public Expiring {
public:
    Errand(LimitService& service, std::shared_ptr<const PlanSet> in_force, std::size_t its_lane)
        : plans{std::move(in_force)}, lane{its_lane}, service_{service} {}

    void add(const ResolvedCheck& check) {
        checks.push_back(check);
        checks.back().key = keys_.emplace_back(check.key);
    }

    // True for the first who asks: it has to conclude the errand.
    bool claim() { return !over_.exchange(true, std::memory_order_acq_rel); }
    [[nodiscard]] bool is_over() const override { return over_.load(std::memory_order_acquire); }
    void expire() override {
        if (claim()) {
            service_.world_.store.gave_up_on(checks.front().key);
            conclude(*this, Unexpected{StoreFailure::Late});
        }
    }

    const std::shared_ptr<const PlanSet> plans;
    const std::size_t lane;  // Of all its checks.
    std::vector<ResolvedCheck> checks;
    std::vector<std::size_t> places;  // Where each check is answered, unless they are decided together.
    bool together = false;
    UniqueFunction<void(Errand&, const StoreReply&)> finish;

private:
    LimitService& service_;
    std::deque<std::string> keys_;    // What the checks' views point at; a deque does not move them.
    std::atomic<bool> over_ = false;  // Acquire and release: who claims it sees what was written before.
};

}  // namespace sluice
