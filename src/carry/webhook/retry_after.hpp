#pragma once

#include <optional>
#include <string_view>

#include "base/time.hpp"

namespace sluice::webhook {

inline constexpr Duration kRetryAfterMax = std::chrono::days{366};

// Reads the header Retry-After: seconds, or a date as "Sun, 06 Nov 1994 08:49:37 GMT". A date gone by is 0;
// more than kRetryAfterMax is kRetryAfterMax. Nothing: it is neither.
std::optional<Duration> parse_retry_after(std::string_view text, Instant now);

}  // namespace sluice::webhook
