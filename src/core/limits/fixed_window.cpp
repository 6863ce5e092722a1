#include "core/limits/fixed_window.hpp"

namespace sluice {
namespace {

using std::chrono::days;
using std::chrono::floor;
using std::chrono::sys_days;
using std::chrono::year_month_day;

sys_days first_of_month(year_month_day date) { return sys_days{date.year() / date.month() / 1}; }
sys_days first_of_year(year_month_day date) { return sys_days{date.year() / 1 / 1}; }

// Back to Monday.
sys_days first_of_week(sys_days day) { return day - days{std::chrono::weekday{day}.iso_encoding() - 1}; }

}  // namespace

Result<WindowCut, PlanError> WindowCut::sized(WindowKind kind, Wait size) {
    if (kind > WindowKind::FirstHit) {
        return Unexpected{PlanError{"a calendar window has no size of its own"}};
    }
    if (size < Wait{1} || size > kWindowSizeMax) {
        return Unexpected{PlanError{"a window must be longer than nothing and at most 366 days"}};
    }
    return WindowCut{kind, size};
}

Moment WindowCut::calendar_start(Moment moment) const {
    const sys_days day = floor<days>(moment);
    switch (kind_) {
        // The week of 1970-01-01 began in 1969: it is cut off there, where time begins for limits.
        case WindowKind::Week: return std::max(Moment{first_of_week(day)}, Moment{});
        case WindowKind::Month: return first_of_month(day);
        case WindowKind::Year: return first_of_year(day);
        default: return day;
    }
}

Moment WindowCut::calendar_end(Moment start) const {
    const sys_days day = floor<days>(start);
    switch (kind_) {
        case WindowKind::Week: return first_of_week(day) + days{7};
        case WindowKind::Month: return first_of_month(year_month_day{day} + std::chrono::months{1});
        case WindowKind::Year: return first_of_year(year_month_day{day} + std::chrono::years{1});
        default: return day + days{1};
    }
}

Result<FixedWindow, PlanError> FixedWindow::make(Tokens limit, WindowCut cut) {
    if (limit < 1 || limit >= kExactMax) {
        return Unexpected{PlanError{"capacity must be positive and below 2^52"}};
    }
    return FixedWindow{limit, cut};
}

}  // namespace sluice
