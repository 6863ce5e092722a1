#pragma once

#include <optional>

#include "base/random.hpp"
#include "base/time.hpp"
#include "core/slots/window_cells.hpp"
#include "core/slots/window_grid.hpp"

namespace sluice {

// How the events of a window lie in it.
enum class Spread : std::uint8_t {
    Random,      // Each anywhere.
    Stratified,  // Each in cells of its own, see WindowCells.
};

// What a request for a time gone by asks for.
enum class Past : std::uint8_t {
    AsSent,  // That time.
    Now,     // The present.
};

// What one version of a config allows.
struct SlotPolicy {
    WindowGrid grid{Duration{1000}};
    Places max_per_window = 1;
    // A slot lies at most this many windows behind the requested one; without it, at most ten years behind.
    std::optional<std::int64_t> max_lookahead{};
    // REQUIRES: for Stratified max_per_window <= kCellsMax, and no more than the window has milliseconds.
    Spread spread = Spread::Random;
    Past past = Past::AsSent;
};

// What one event asks for.
struct SlotAsk {
    Instant requested;
    Places weight = 1;
    std::optional<Duration> max_delay{};
};

// Where an event may go. The last window is included.
struct WindowRange {
    WindowIndex first;
    WindowIndex last;
};

struct Placement {
    WindowIndex window;
    Instant scheduled;
    std::vector<Cell> cells{};  // What it takes of a stratified window. Empty: its time is as random as any.
};

// How full the windows of one pool are. A window that was never touched holds nothing.
class WindowCounts {
public:
    virtual ~WindowCounts() = default;
    virtual Places held(WindowIndex window) = 0;

    // The earliest window of the range that holds at most `held_max` places.
    virtual std::optional<WindowIndex> earliest_holding_at_most(WindowRange range, Places held_max) = 0;

    // The cells of a window that is cut into `count`. Nothing when it holds events that were placed without
    // cells, or under another cut. Who knows counts only takes all cells for free.
    virtual std::optional<WindowCells> cells(WindowIndex /*window*/, Places count) {
        return WindowCells{count};
    }
};

// What `ask` comes to at `now`: a time gone by may mean the present, and max_delay counts from then.
SlotAsk asked_at(const SlotPolicy& policy, SlotAsk ask, Instant now);

// The windows that `ask` can be placed in. The first one is the window of the requested time.
WindowRange reach(const SlotPolicy& policy, const SlotAsk& ask);

// How many places the first window offers to `ask`: the share of the cap that the rest of the window is.
Places first_window_capacity(const SlotPolicy& policy, Instant requested);

// The earliest window with room for `ask`, or nothing when every window within reach is full. A stratified
// window without a free cell up to max_delay counts as full.
// REQUIRES: 1 <= ask.weight <= policy.max_per_window.
std::optional<WindowIndex> find_window(const SlotPolicy& policy, const SlotAsk& ask, WindowCounts& counts);

// The earliest time in `window` that `ask` may have: never before the requested one.
Instant earliest_in(const SlotPolicy& policy, const SlotAsk& ask, WindowIndex window);

// A time in `window`, uniform over all that lie neither before the requested time nor past its max_delay.
// REQUIRES: window within reach(policy, ask).
Instant draw_time(const SlotPolicy& policy, const SlotAsk& ask, WindowIndex window, Random& random);

// find_window and draw_time in one step. Changes no counts: the caller adds what it accepts.
std::optional<Placement> place(const SlotPolicy& policy, const SlotAsk& ask, WindowCounts& counts,
                               Random& random);

}  // namespace sluice
