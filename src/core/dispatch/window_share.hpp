#pragma once

#include <cstdint>

#include "base/time.hpp"
#include "core/slots/window_grid.hpp"

namespace sluice {

// What a pool has sent, and has to send, in one window.
struct WindowSends {
    WindowIndex window = 0;
    Places cap = 1;      // Of the config of whoever asks.
    Places planned = 0;  // What the slots in this window hold, those without work too.
    Places sent = 0;     // All that went out in this window.
    Places late = 0;     // The part of `sent` whose slots lie in other windows, or that was tried before.

    bool operator==(const WindowSends&) const = default;
};

enum class Lateness : std::uint8_t { Fresh, Late };

// How much late work a window takes while fresh work waits: a fifth of its cap, over many windows exactly.
Places late_share(WindowIndex window, Places cap);

// Whether work of this weight may go out in the window now: never above the cap; late work only as far as the
// planned work leaves room, or within its share. Late work that weighs more than both goes alone among the
// late, in as few windows as the shares pay for. What weighs more than the cap may go when nothing else has.
// REQUIRES: weight > 0, cap > 0, both at most a billion.
bool may_send(const WindowSends& sends, Places weight, Lateness lateness);

}  // namespace sluice
