#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <boost/asio/awaitable.hpp>

#include "door/http/http_server.hpp"
#include "door/http/problem.hpp"

namespace sluice::http {

// The headers of a request.
class HeaderSource {
public:
    virtual ~HeaderSource() = default;
    // The value of a header, whatever its case. Empty when absent; the first when there are several.
    [[nodiscard]] virtual std::string_view find(std::string_view name) const = 0;
};

// A request as handlers see it. The views live as long as the handler runs.
struct Request {
    std::string_view target;  // As sent: path and query.
    std::string_view body;
    std::string capture;                    // What stands in the route's {place}, decoded.
    std::string remote;                     // The client's address; only for routes that tell who asks.
    const HeaderSource* headers = nullptr;  // Never null for a handler.
    std::string_view token{};               // What names the token that let it in; empty: none was needed.
};

struct Response {
    unsigned status = 200;
    std::string_view content_type = "application/json";  // Static storage. Empty: there is no body.
    std::string body{};
    std::string headers{};    // Further header lines, each with its line end.
    bool close = false;       // The connection cannot go on after this.
    std::string_view code{};  // Of the problem that it tells, if it does. Static storage.
};

// The exact words for a problem, where a route does not speak application/problem+json.
using ErrorText = std::string_view (*)(const Problem&);

// 503 and 429 say when to come back. Without `words` the body is application/problem+json.
Response answer(const Problem& problem, ErrorText words = nullptr);

inline Response answer_json(std::string body) { return {200, "application/json", std::move(body)}; }

using Answer = boost::asio::awaitable<Response>;

class Connection;
struct RequestHead;

// A connection as a stream takes it over: behind the head, with the body before it. All of it outlives the
// stream.
struct StreamCall {
    Connection& connection;
    const RequestHead& head;
    const ServerOptions& options;
};

// What the handlers of one part work with: its service and little more. Each part has its own kind.
struct Desk {};

// A handler that answers at once, one that waits for the service, or one that reads and writes the connection
// by itself and says whether that can go on with the next request. `on` makes them.
using QuickHandler = Response (*)(const Desk&, const Request&);
using WaitingHandler = Answer (*)(const Desk&, const Request&);
using StreamHandler = boost::asio::awaitable<bool> (*)(const Desk&, StreamCall);

template <auto Function>
struct On;
template <class Own, Response (*Function)(const Own&, const Request&)>
struct On<Function> {
    static Response call(const Desk& desk, const Request& request) {
        return Function(static_cast<const Own&>(desk), request);
    }
};
template <class Own, Answer (*Function)(const Own&, const Request&)>
struct On<Function> {
    static Answer call(const Desk& desk, const Request& request) {
        return Function(static_cast<const Own&>(desk), request);
    }
};
template <class Own, boost::asio::awaitable<bool> (*Function)(const Own&, StreamCall)>
struct On<Function> {
    static boost::asio::awaitable<bool> call(const Desk& desk, StreamCall stream) {
        return Function(static_cast<const Own&>(desk), stream);
    }
};

// The handler that calls the function with the desk of its part. REQUIRES: the table of the route has it.
template <auto Function>
consteval auto on() {
    return &On<Function>::call;
}

}  // namespace sluice::http
