#pragma once

#include <optional>
#include <span>

#include "store/redis/client/routes.hpp"
#include "store/redis/client/script.hpp"

namespace sluice::redis {

// One call of the script, and what came of it.
struct ScriptCall {
    std::uint16_t slot = 0;
    std::string command;           // EVALSHA and all of its words, as they are sent.
    std::optional<Reply> reply{};  // Nothing: no answer; it may or may not have been carried out.
};

// Sends calls to the servers that have their keys and sees to it that they get there: loads the script where
// it is not known, follows slots that have moved, waits for a moment where a server is not ready. What was
// sent and not answered is never sent again.
// Thread safety: all of it.
class ScriptRunner {
public:
    // What is referred to must outlive it.
    ScriptRunner(Routes& routes, const Script& script, std::chrono::milliseconds timeout)
        : routes_{routes}, script_{script}, timeout_{timeout} {}

    // All calls to a server go out together; replies are waited for until the time-out.
    void run(std::span<ScriptCall> calls);

private:
    Routes& routes_;
    const Script& script_;
    const std::chrono::milliseconds timeout_;
};

}  // namespace sluice::redis
