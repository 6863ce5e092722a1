#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/time.hpp"

namespace sluice {

enum class TimeError {
    Malformed,   // Not a strict ISO-8601 date and time with an offset, or a day that does not exist.
    OutOfRange,  // Before 1970.
};

inline constexpr Duration kDurationMax = std::chrono::days{31};

// Reads `2025-06-01T12:00:02.371Z`, or any other offset, as UTC. A finer fraction is rounded up to the next
// millisecond, so that nothing is ever scheduled before the time that was asked for. Leap seconds, `24:00`
// and times without an offset are malformed.
Result<Instant, TimeError> parse_instant(std::string_view text);

// Writes `2025-06-01T12:00:02.371Z`, always with three digits.
std::string format_instant(Instant instant);

enum class DurationError {
    Malformed,   // Not of the form PnDTnHnMn.nS, or with years and months, whose length is not fixed.
    OutOfRange,  // Not positive, not a whole number of milliseconds, or longer than kDurationMax.
};

Result<Duration, DurationError> parse_duration(std::string_view text);

// Writes the shortest form: PT4S, PT1.5S, PT1H, P1DT2H.
std::string format_duration(Duration duration);

}  // namespace sluice
