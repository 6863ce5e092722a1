#include "core/gateway/user_window.hpp"

#include <algorithm>

namespace sluice {

WindowStep reserve(const UserWindow& window, Instant now, std::int32_t asked) {
    UserWindow next = window;
    if (now >= window.end()) {
        next.count = 0;
        next.start = now;
    }
    const std::int32_t room = std::max(0, next.terms.rate_limit - next.count);
    const std::int32_t granted = std::min(room, asked);
    next.count += granted;
    return {next, granted, granted < asked ? next.end() - now : Duration{0}};
}

UserWindow refund(const UserWindow& window, Instant start) {
    UserWindow next = window;
    if (window.start == start && window.count > 0) {
        --next.count;
    }
    return next;
}

bool still_counted(const UserWindow& window, Instant start, Instant now) {
    return window.start == start && now < window.end();
}

}  // namespace sluice
