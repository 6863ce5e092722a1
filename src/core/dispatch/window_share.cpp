#include "core/dispatch/window_share.hpp"

#include <algorithm>

namespace sluice {
namespace {

constexpr std::int64_t kLatePart = 5;  // One of so many.

// The shares of all windows before, counted from one whose number is a multiple of `period`.
std::int64_t shares_before(WindowIndex window, Places cap) { return window * cap / kLatePart; }

WindowIndex within(WindowIndex window, std::int64_t period) { return (window % period + period) % period; }

// Work that is heavier than any share waits until the shares add up to its weight, and then goes at once:
// otherwise it would wait for ever while all windows are fully planned.
bool is_turn_of_heavy(WindowIndex window, Places cap, Places weight) {
    const WindowIndex at = within(window, kLatePart * weight);
    return shares_before(at + 1, cap) / weight > shares_before(at, cap) / weight;
}

}  // namespace

// Shares repeat after kLatePart windows, which keeps the products small.
Places late_share(WindowIndex window, Places cap) {
    const WindowIndex at = within(window, kLatePart);
    return static_cast<Places>(shares_before(at + 1, cap) - shares_before(at, cap));
}

bool may_send(const WindowSends& sends, Places weight, Lateness lateness) {
    if (weight > sends.cap) {
        return sends.sent == 0;
    }
    if (sends.sent > sends.cap - weight) {
        return false;
    }
    if (lateness == Lateness::Fresh) {
        return true;
    }
    const Places share = late_share(sends.window, sends.cap);
    const Places room = std::max(share, sends.cap - std::min(sends.cap, sends.planned));
    if (weight <= room) {
        return sends.late <= room - weight;
    }
    return sends.late == 0 && is_turn_of_heavy(sends.window, sends.cap, weight);
}

}  // namespace sluice
