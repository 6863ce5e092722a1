#pragma once

#include <map>
#include <optional>

#include "main/client_call.hpp"
#include "main/doctor_finding.hpp"

namespace sluice {

// What a running server tells of itself.
struct ServerFacts {
    std::string version;
    std::string folder;                           // Where it runs; relative paths start here.
    std::map<std::string, std::string> settings;  // Those that are set, by key. Passwords are masked.
};

// Whether the server is ready, and what it says of its settings, files, clock and plans. Nothing when it
// does not say.
std::optional<ServerFacts> check_server(const CalledServer& server, Findings& findings);

// Whether servers that are meant to work together fit.
void compare_servers(const std::map<std::string, ServerFacts>& by_address, Findings& findings);

}  // namespace sluice
