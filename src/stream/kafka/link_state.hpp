#pragma once

#include <string>

#include "base/log.hpp"
#include "base/time.hpp"

namespace sluice::kafka {

// Whether any broker can be reached, by a client that works.
struct LinkState {
    bool up = false;
    bool ever_up = false;  // False: none has answered since the start.
    Instant since{};       // When it became so.
    std::string reason{};  // Why it is down; a sentence without its full stop. Empty: it is up.
};

// What surrounds a client, and outlives it.
struct ClientWorld {
    const Clock& clock;
    Log& log;
};

}  // namespace sluice::kafka
