#pragma once

#include <sluice/rate_limiter.hpp>

#include "app/limits/limit_service.hpp"
#include "library/owned_store.hpp"

namespace sluice {

// A limiter over the use cases of limits: with a deadline and a circuit breaker. Each call waits until the
// service is done with it. Throws std::bad_alloc if the memory for local keys cannot be had.
std::unique_ptr<RateLimiter> make_service_limiter(std::unique_ptr<PlanBook> plans, OwnedStore store,
                                                  const LimitServiceOptions& options, MissingPlan missing);

}  // namespace sluice
