#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <sluice/result.hpp>

namespace sluice {

class Plan;

// A plan as it is written down. Which fields an algorithm uses is told in docs/limits.md; one that it has no
// use for is an error.
struct RateLimitConfig {
    std::string name;  // [A-Za-z0-9_.:-]+
    std::string algorithm = "token_bucket";
    std::optional<std::int64_t> capacity{};  // The limit, whatever the algorithm.
    std::string refill{};                    // "10/s", "600/m", "1000/PT15M".
    std::string window{};                    // "PT1H", or "day", "week", "month", "year".
    std::string start{};                     // "aligned" or "first_hit".
    std::string cooldown{};                  // "PT5M".
    std::optional<std::int64_t> max_per_hour{};
    std::string on_store_failure = "open";  // Or "closed".
    bool shadow = false;                    // Decides and counts, but denies nothing.
};

// A plan that has been checked and can be decided by. A cheap value: copies share what never changes.
// Thread safety: immutable.
class RatePlan {
public:
    // Fails with one sentence for whoever wrote it.
    static Result<RatePlan, std::string> make(const RateLimitConfig& config);

    [[nodiscard]] std::string_view name() const;
    // What happens when the repository cannot answer: true denies.
    [[nodiscard]] bool fails_closed() const;
    // For repositories of this library.
    [[nodiscard]] const Plan& rule() const { return *plan_; }

private:
    explicit RatePlan(std::shared_ptr<const Plan> plan) : plan_{std::move(plan)} {}

    std::shared_ptr<const Plan> plan_;
};

}  // namespace sluice
