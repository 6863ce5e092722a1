#pragma once

#include <string_view>

#include "app/limits/moment_clock.hpp"
#include "store/redis/client/script.hpp"

namespace sluice::redis {

// Where the script has its time from: a piece of Lua that sets `now` and keep_until(), and, if it reads the
// time from the last argument, the clock to send it by. The server's own time needs no clock here.
struct ScriptTime {
    std::string_view lua;
    const MomentClock* clock = nullptr;
};

// The server's own clock, and keys that expire.
ScriptTime server_time();

// The script that decides.
Script limit_script(const ScriptTime& time);

}  // namespace sluice::redis
