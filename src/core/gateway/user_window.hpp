#pragma once

#include <compare>
#include <cstdint>
#include <limits>

#include "base/time.hpp"

namespace sluice {

// Whose messages are counted. REQUIRES: not negative.
struct UserId {
    std::int32_t number = 0;

    auto operator<=>(const UserId&) const = default;
};
inline constexpr std::int64_t kUserIdMax = std::numeric_limits<std::int32_t>::max();

// How many messages a user may send within so many minutes. REQUIRES: both from 1 to kUserTermMax.
struct UserTerms {
    std::int32_t rate_limit = 1;
    std::int32_t minutes = 1;

    [[nodiscard]] Duration length() const { return std::chrono::minutes{minutes}; }
    bool operator==(const UserTerms&) const = default;
};
inline constexpr std::int64_t kUserTermMax = 1'000'000'000;

// A user's window: it begins with the first message after the one before has elapsed, so it is aligned to
// nothing.
struct UserWindow {
    UserTerms terms;
    std::int32_t count = 0;
    Instant start{};

    [[nodiscard]] Instant end() const { return start + terms.length(); }
    bool operator==(const UserWindow&) const = default;
};

// What became of messages that asked for a place in a window.
struct WindowStep {
    UserWindow next;
    std::int32_t granted = 0;
    Duration retry_after{};  // Until the window ends, when not all were granted. Else 0.
};

// Grants as many of `asked` as there is room for; in a new window if this one has elapsed, which it has when
// `now` is its end. Nothing granted: the window is as it was. A clock that steps back opens no window.
// Pure. REQUIRES: asked >= 1.
[[nodiscard]] WindowStep reserve(const UserWindow& window, Instant now, std::int32_t asked);

// Gives a place back that was granted in the window that began at `start`. Another window owes nothing, and
// none counts below 0.
// Pure.
[[nodiscard]] UserWindow refund(const UserWindow& window, Instant start);

// Whether a place that was granted in the window that began at `start` is still counted in the one of `now`.
[[nodiscard]] bool still_counted(const UserWindow& window, Instant start, Instant now);

}  // namespace sluice
