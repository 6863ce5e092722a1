#pragma once

#include <sluice/rate_limiter.hpp>

#include "app/limits/limit_answer.hpp"

namespace sluice {

// What the use cases of limits speak of, as the public headers name it.

// The key of all requests whose own could not be found out; no door lets such a one in.
inline constexpr std::string_view kNoKey{"\0", 1};

inline std::uint64_t number_of(LeaseId lease) { return static_cast<std::uint64_t>(lease); }

// Kept to what every store can count with: not before 1970, nor after 2112.
OverrideEnd end_at(const RateLimitOverrideEnd& end);

PlanDraft draft_of(const RateLimitConfig& config);
PlanDraft draft_of(const RateLimitOverride& instead);

RateLimitStanding standing_of(const BookedPlan& plan, const Standing& standing);

RateLimitResult result_of(const LimitAnswer& answer);
// Denied, and nothing was charged.
RateLimitResult invalid_result();
// No plan decides: this one is not known.
RateLimitResult missing_result(std::string_view plan, MissingPlan missing);

RateLimitError error_of(const LimitError& error);
RateLimitError missing_error(std::string_view plan);

}  // namespace sluice
