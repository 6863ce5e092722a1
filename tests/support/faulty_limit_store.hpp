#pragma once

#include <atomic>
#include <functional>

#include "app/limits/limit_store.hpp"

namespace sluice::test {

// A store that does as it is told before it asks the real one: fails, or waits. Counts its calls.
// Thread safety: that of the real one; hooks are set while nobody calls.
class FaultyLimitStore final : public LimitStore {
public:
    explicit FaultyLimitStore(LimitStore& real) : real_{real} {}

    // Called with the number of the call, from 1. A fault is answered in place of the real store.
    std::function<std::optional<LimitFault>(std::uint64_t)> before;
    // Called when the real store has decided checks, and before it is known what.
    std::function<void()> after_take;
    std::atomic<std::uint64_t> calls = 0;
    std::atomic<std::uint64_t> checks_taken = 0;

    void take(std::span<const Check> checks, std::span<CheckOutcome> outcomes) override {
        if (const auto fault = arrive()) {
            for (CheckOutcome& outcome : outcomes) {
                outcome = Unexpected{*fault};
            }
            return;
        }
        checks_taken += checks.size();
        real_.take(checks, outcomes);
        if (after_take) {
            after_take();
        }
    }
    CheckOutcome take_together(std::span<const Check> checks) override {
        const auto fault = arrive();
        return fault ? CheckOutcome{Unexpected{*fault}} : real_.take_together(checks);
    }
    Result<void, LimitFault> refund(const Check& check) override {
        const auto fault = arrive();
        return fault ? Result<void, LimitFault>{Unexpected{*fault}} : real_.refund(check);
    }
    Result<bool, LimitFault> release(std::string_view key, const Plan& plan, LeaseId lease) override {
        const auto fault = arrive();
        return fault ? Result<bool, LimitFault>{Unexpected{*fault}} : real_.release(key, plan, lease);
    }
    Result<void, LimitFault> reset(std::string_view key, std::span<const Plan* const> plans) override {
        const auto fault = arrive();
        return fault ? Result<void, LimitFault>{Unexpected{*fault}} : real_.reset(key, plans);
    }
    Result<std::vector<Inspection>, LimitFault> inspect(std::string_view key,
                                                        std::span<const Plan* const> plans) override {
        const auto fault = arrive();
        return fault ? Result<std::vector<Inspection>, LimitFault>{Unexpected{*fault}}
                     : real_.inspect(key, plans);
    }
    Result<Moment, LimitFault> put_override(std::string_view key, const Plan& plan,
                                            const LimitOverride& replacement) override {
        const auto fault = arrive();
        return fault ? Result<Moment, LimitFault>{Unexpected{*fault}}
                     : real_.put_override(key, plan, replacement);
    }

private:
    std::optional<LimitFault> arrive() {
        const std::uint64_t number = ++calls;
        return before ? before(number) : std::nullopt;
    }

    LimitStore& real_;
};

}  // namespace sluice::test
