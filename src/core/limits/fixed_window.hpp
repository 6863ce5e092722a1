#pragma once

#include <algorithm>

#include "base/result.hpp"
#include "core/limits/limit_terms.hpp"

namespace sluice {

// How time is cut into windows.
enum class WindowKind : std::uint8_t {
    Aligned,   // Windows of one size, counted from 1970: all keys change windows together.
    FirstHit,  // A window of that size begins with a key's first charge after the one before has ended.
    Day,       // Calendar units in UTC; a week begins on Monday.
    Week,
    Month,
    Year,
};

// The windows of a fixed_window plan: a kind and, for Aligned and FirstHit, a size.
class WindowCut {
public:
    // Fails unless `size` is positive and at most kWindowSizeMax.
    static Result<WindowCut, PlanError> sized(WindowKind kind, Wait size);
    // REQUIRES: Day, Week, Month or Year.
    static WindowCut calendar(WindowKind unit) { return WindowCut{unit, Wait{0}}; }

    [[nodiscard]] WindowKind kind() const { return kind_; }
    [[nodiscard]] Wait size() const { return size_; }

    // Where the window of `moment` begins; for FirstHit the moment itself.
    [[nodiscard]] Moment start_of(Moment moment) const {
        if (kind_ == WindowKind::Aligned) {
            return moment - moment.time_since_epoch() % size_;
        }
        return kind_ == WindowKind::FirstHit ? moment : calendar_start(moment);
    }

    // Where the window that begins at `start` ends.
    [[nodiscard]] Moment end_of(Moment start) const {
        return kind_ <= WindowKind::FirstHit ? start + size_ : calendar_end(start);
    }

    bool operator==(const WindowCut&) const = default;

private:
    WindowCut(WindowKind kind, Wait size) : kind_{kind}, size_{size} {}
    [[nodiscard]] Moment calendar_start(Moment moment) const;
    [[nodiscard]] Moment calendar_end(Moment start) const;

    WindowKind kind_;
    Wait size_;  // 0 for calendar units.
};

inline constexpr Wait kWindowSizeMax = std::chrono::days{366};

// At most `limit` tokens in each window. Twice the limit can pass within one window's length, around its end.
// Pure: reads no clock, allocates nothing.
// Thread safety: immutable after make().
class FixedWindow {
public:
    // A key that is not known has used nothing.
    struct State {
        std::int64_t used = 0;
        std::int64_t start = 0;  // Of the window it was used in, in microseconds since 1970.

        bool operator==(const State&) const = default;
    };

    // Fails unless 1 <= limit < kExactMax.
    static Result<FixedWindow, PlanError> make(Tokens limit, WindowCut cut);

    [[nodiscard]] Tokens limit() const { return limit_; }
    [[nodiscard]] const WindowCut& cut() const { return cut_; }
    // NOLINTNEXTLINE(readability-convert-member-functions-to-static): all rules answer this.
    [[nodiscard]] State fresh() const { return {}; }

    // A clock that has stepped back stays in the window that was charged last.
    [[nodiscard]] Standing look(const State& state, const Ask& ask) const {
        const State current = rolled(state, ask.now);
        const Wait to_end = cut_.end_of(moment_of(current.start)) - ask.now;
        const Tokens left = std::max<Tokens>(0, limit_ - current.used);
        if (ask.weight() > left) {
            return {false, limit_, left, to_end, to_end};
        }
        const bool untouched = ask.is_peek() && current.used == 0;
        return {true, limit_, left - ask.cost, Wait{0}, untouched ? Wait{0} : to_end};
    }

    void charge(State& state, const Ask& ask) const {
        state = rolled(state, ask.now);
        state.used += ask.cost;
    }

    // Gives back what was used in the current window; what an earlier one used is gone already.
    void refund(State& state, const Ask& ask) const {
        state = rolled(state, ask.now);
        state.used = std::max<std::int64_t>(0, state.used - ask.cost);
    }

    [[nodiscard]] Moment idle_at(const State& state) const {
        return is_free(state) ? Moment{} : cut_.end_of(moment_of(state.start));
    }

    bool operator==(const FixedWindow&) const = default;

private:
    FixedWindow(Tokens limit, WindowCut cut) : limit_{limit}, cut_{cut} {}

    // A window of its own that was given back whole has not begun.
    [[nodiscard]] bool is_free(const State& state) const {
        return state.used == 0 && cut_.kind() == WindowKind::FirstHit;
    }

    // The window that counts at `now`: never one before that of the last charge.
    [[nodiscard]] State rolled(const State& state, Moment now) const {
        const bool over = is_free(state) || cut_.end_of(moment_of(state.start)) <= now;
        return over ? State{0, microseconds_of(cut_.start_of(now))} : state;
    }

    Tokens limit_;
    WindowCut cut_;
};

}  // namespace sluice
