#pragma once

#include <cstdint>

#include "base/steady_clock.hpp"

namespace sluice {

struct FailBudgetOptions {
    std::chrono::milliseconds time{std::chrono::minutes{5}};  // From the first failure of an outage.
    std::uint64_t tokens = 1'000'000;                         // During an outage.
};

// How much one plan lets through unchecked while the store fails. An outage goes on until nothing has failed
// for kQuiet: a store that answers now and then does not renew the budget.
// Thread safety: none.
class FailBudget {
public:
    static constexpr std::chrono::seconds kQuiet{10};

    // To be called for every failure, before the rest.
    void failed(SteadyTime now) {
        if (now - last_ > kQuiet || first_ == SteadyTime{}) {
            first_ = now;
            spent_ = 0;
        }
        last_ = now;
    }

    [[nodiscard]] bool covers(const FailBudgetOptions& options, SteadyTime now, std::uint64_t tokens) const {
        return now - first_ <= options.time && tokens <= options.tokens && spent_ <= options.tokens - tokens;
    }

    // REQUIRES: covers() said so.
    void spend(std::uint64_t tokens) { spent_ += tokens; }
    // What was spent on a check that another plan then denied.
    void give_back(std::uint64_t tokens) { spent_ -= tokens < spent_ ? tokens : spent_; }

private:
    SteadyTime first_{};
    SteadyTime last_{};
    std::uint64_t spent_ = 0;
};

}  // namespace sluice
