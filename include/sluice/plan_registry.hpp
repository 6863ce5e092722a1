#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <shared_mutex>

#include <sluice/rate_plan.hpp>

namespace sluice {

// Where plans are looked up by name.
// Thread safety: find() may be called from any thread.
class PlanRegistry {
public:
    virtual ~PlanRegistry() = default;
    [[nodiscard]] virtual std::optional<RatePlan> find(std::string_view name) const = 0;
};

// Plans that a program sets itself, at the start or at any time.
// Thread safety: all of it.
class InMemoryPlanRegistry final : public PlanRegistry {
public:
    // Replaces a plan of the same name. Fails as RatePlan::make does, and then changes nothing.
    Result<void, std::string> put(const RateLimitConfig& config);
    // False: there was none.
    bool remove(std::string_view name);

    [[nodiscard]] std::optional<RatePlan> find(std::string_view name) const override;

private:
    mutable std::shared_mutex mutex_;
    std::map<std::string, RatePlan, std::less<>> plans_;  // Guarded by mutex_.
};

}  // namespace sluice
