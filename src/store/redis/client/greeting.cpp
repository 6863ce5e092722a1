#include "store/redis/client/greeting.hpp"

#include <vector>

namespace sluice::redis {
namespace {

using Failed = Unexpected<std::string>;
using Words = std::vector<std::string>;

// A port that wants TLS answers nothing that we understand.
std::string no_answer_of(const Connection& connection, const Greeting& greeting) {
    return connection.trouble() +
           (greeting.tls == nullptr ? "; if it wants TLS, its address begins with rediss://" : "");
}

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
        return no_answer_of(connection, greeting);
    }
    // The server's own words might repeat what it was told.
    return reply->is_error() ? std::optional<std::string>{"refuses the user or the password"} : std::nullopt;
}

// What INFO says of a field. Empty: nothing.
std::string_view fact(std::string_view info, std::string_view field) {
    const std::string line = "\n" + std::string{field} + ":";
    const std::size_t at = info.find(line);
    if (at == std::string_view::npos) {
        return {};
    }
    const std::string_view rest = info.substr(at + line.size());
    return rest.substr(0, rest.find_first_of("\r\n"));
}

std::optional<std::string> refuse_eviction(std::string_view info) {
    const std::string_view policy = fact(info, "maxmemory_policy");
    if (policy == "noeviction") {
        return std::nullopt;
    }
    if (policy.empty()) {
        return "does not tell its maxmemory-policy";
    }
    return "has maxmemory-policy " + std::string{policy} +
           ", which forgets limits that are still running; set noeviction";
}

// By what a server says of itself. What is charged at a replica is nowhere else; a node of a Cluster has only
// some of the keys.
std::optional<std::string> refuse_kind(std::string_view info, Wanted wanted) {
    if (wanted == Wanted::Alone && fact(info, "cluster_enabled") == "1") {
        return "is a node of a Cluster; an address that begins with redis+cluster:// stands for all of it";
    }
    const std::string_view role = fact(info, "role");
    if (wanted == Wanted::Alone && role == "slave") {
        return "is a replica; give its master's address, or redis+sentinel:// and its sentinels";
    }
    if (wanted == Wanted::Master && role != "master") {
        return "is not a master";
    }
    return std::nullopt;
}

std::optional<std::string> refuse_by_info(Connection& connection, const Greeting& greeting, Wanted wanted,
                                          Deadline deadline) {
    const auto reply = connection.ask(Words{"INFO"}, deadline);
    if (!reply) {
        return connection.trouble();
    }
    if (reply->is_error()) {
        return "does not tell what it is: " + std::string{reply->text()};
    }
    auto problem = refuse_kind(reply->text(), wanted);
    return problem || greeting.allow_eviction ? problem : refuse_eviction(reply->text());
}

// A server that wants a password refuses the first command without one. PING is answered by all others, also
// while they load their data.
std::optional<std::string> refuse_stranger(Connection& connection, const Greeting& greeting,
                                           Deadline deadline) {
    const auto reply = connection.ask(Words{"PING"}, deadline);
    if (!reply) {
        return no_answer_of(connection, greeting);
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
    problem = problem ? problem : refuse_stranger(connection, greeting, deadline);
    if (!problem && wanted != Wanted::Anything) {
        problem = refuse_by_info(connection, greeting, wanted, deadline);
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
        return Failed{"Redis at " + endpoint.text() + " " + *problem};
    }
    return connection;
}

}  // namespace sluice::redis
