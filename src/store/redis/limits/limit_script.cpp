#include "store/redis/limits/limit_script.hpp"

#include "store/redis/limits/script_parts.hpp"

namespace sluice::redis {

ScriptTime server_time() { return {server_time_lua()}; }

Script limit_script(const ScriptTime& time) {
    // The first line makes Redis refuse the whole script on a replica, where otherwise what needs no write, a
    // denial or a peek, would be answered from a state that may be old.
    std::string text{"#!lua\n"};
    text.append(time.lua);
    for (const std::string_view part : limit_script_parts()) {
        text.append(part);
    }
    return Script{std::move(text)};
}

}  // namespace sluice::redis
