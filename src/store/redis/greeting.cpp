#include "store/redis/greeting.hpp"

#include <vector>

namespace sluice::redis {
namespace {

using Failed = Unexpected<std::string>;
using Words = std::vector<std::string>;

constexpr std::string_view kPolicyField = "maxmemory_policy:";

// Says what went wrong.
std::optional<std::string> authenticate(Connection& connection, const Greeting& greeting, Deadline deadline) {
    if (greeting.password.empty()) {
        return std::nullopt;
    }
    Words words{"AUTH"};
    if (!greeting.user.empty()) {
        words.push_back(greeting.user);
    }
    words.push_back(greeting.password);
    const auto reply = connection.ask(words, deadline);
    if (!reply) {
        return "does not answer";
    }
    // The server's own words might repeat what it was told.
    return reply->is_error() ? std::optional<std::string>{"refuses the user or the password"} : std::nullopt;
}

// The policy, or nothing: the server does not tell. CONFIG is often forbidden where INFO is not.
std::optional<std::string> eviction_policy(Connection& connection, Deadline deadline) {
    const auto config = connection.ask(Words{"CONFIG", "GET", "maxmemory-policy"}, deadline);
    if (config && config->size() == 2) {
        return std::string{config->at(1).text()};
    }
    const auto info = connection.ask(Words{"INFO", "memory"}, deadline);
    const std::string_view text = info && !info->is_error() ? info->text() : std::string_view{};
    const std::size_t field = text.find(kPolicyField);
    if (field == std::string_view::npos) {
        return std::nullopt;
    }
    const std::string_view rest = text.substr(field + kPolicyField.size());
    return std::string{rest.substr(0, rest.find_first_of("\r\n"))};
}

std::optional<std::string> refuse_eviction(Connection& connection, Deadline deadline) {
    const auto policy = eviction_policy(connection, deadline);
    if (!policy) {
        return "does not tell its maxmemory-policy (CONFIG GET and INFO are refused)";
    }
    if (*policy == "noeviction") {
        return std::nullopt;
    }
    return "has maxmemory-policy " + *policy +
           ", which forgets limits that are still running; set noeviction";
}

std::optional<std::string> refuse_replica(Connection& connection, Deadline deadline) {
    const auto role = connection.ask(Words{"ROLE"}, deadline);
    const bool is_master = role && role->size() > 0 && role->at(0).text() == "master";
    return is_master ? std::nullopt : std::optional<std::string>{"is not a master"};
}

// A server that wants a password refuses the first command without one. PING is answered by all others, also
// while they load their data.
std::optional<std::string> refuse_stranger(Connection& connection, Deadline deadline) {
    const auto reply = connection.ask(Words{"PING"}, deadline);
    if (!reply) {
        return "does not answer";
    }
    if (reply->is_error("NOAUTH")) {
        return "wants a password";
    }
    return reply->is_error() && !reply->is_error("NOPERM")
               ? std::optional{"says " + std::string{reply->text()}}
               : std::nullopt;
}

std::optional<std::string> examine(Connection& connection, const Greeting& greeting, Wanted wanted) {
    const Deadline deadline = std::chrono::steady_clock::now() + greeting.timeout;
    auto problem = authenticate(connection, greeting, deadline);
    problem = problem ? problem : refuse_stranger(connection, deadline);
    if (!problem && wanted == Wanted::Master) {
        problem = refuse_replica(connection, deadline);
    }
    if (!problem && wanted != Wanted::Anything && !greeting.allow_eviction) {
        problem = refuse_eviction(connection, deadline);
    }
    return problem;
}

}  // namespace

Result<std::unique_ptr<Connection>, std::string> greet(const Endpoint& endpoint, const Greeting& greeting,
                                                       Wanted wanted) {
    auto connection =
        Connection::open(endpoint, greeting.tls, std::chrono::steady_clock::now() + greeting.timeout);
    if (!connection) {
        return connection;
    }
    if (const auto problem = examine(**connection, greeting, wanted)) {
        return Failed{"Redis at " + text_of(endpoint) + " " + *problem};
    }
    return connection;
}

}  // namespace sluice::redis
