#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include <sluice/result.hpp>

namespace sluice {

struct BookedPlan;

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
    std::string on_store_failure = "open";  // Or "closed", or "local".
    bool shadow = false;                    // Decides and counts, but denies nothing.
};

// When an override ends: at a time, or so long after it was put. The clock of whatever decides counts, for
// example that of the Redis server.
using RateLimitOverrideEnd = std::variant<std::chrono::system_clock::time_point, std::chrono::microseconds>;

// Another rule for one key in place of a plan's own. Fields that are left empty are as in the plan, unless
// another algorithm is named.
struct RateLimitOverride {
    std::string plan;
    RateLimitOverrideEnd until{};  // In the past: an earlier override ends.
    std::string algorithm{};
    std::optional<std::int64_t> capacity{};
    std::string refill{};
    std::string window{};
    std::string start{};
    std::string cooldown{};
    std::optional<std::int64_t> max_per_hour{};
};

// A plan that has been checked and can be decided by. A cheap value: copies share what never changes.
// Thread safety: immutable.
class RatePlan {
public:
    // Fails with one sentence for whoever wrote it.
    static Result<RatePlan, std::string> make(const RateLimitConfig& config);

    // The same plan with the rule that an override gives a key. Fails as make() does.
    [[nodiscard]] Result<RatePlan, std::string> overridden(const RateLimitOverride& instead) const;

    [[nodiscard]] std::string_view name() const;
    // For this library.
    [[nodiscard]] const BookedPlan& booked() const { return *plan_; }

private:
    explicit RatePlan(std::shared_ptr<const BookedPlan> plan) : plan_{std::move(plan)} {}

    std::shared_ptr<const BookedPlan> plan_;
};

}  // namespace sluice
