#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>

#include "net/http_client.hpp"
#include "net/name_lookups_internal.hpp"
#include "net/tls_stream_internal.hpp"

namespace sluice::net {

// A client's connection to a server.
struct Wire {
    explicit Wire(const boost::asio::any_io_executor& executor) : socket{executor} {}

    boost::asio::ip::tcp::socket socket;
    std::unique_ptr<TlsStream> tls;  // Over the socket. Null: plain.
    boost::beast::flat_buffer buffer;
    SteadyTime idle_since{};
};

// Closes a socket when its time is over.
class Alarm {
public:
    Alarm(boost::asio::ip::tcp::socket& socket, SteadyTime when);
    ~Alarm() { watch_->socket = nullptr; }
    Alarm(const Alarm&) = delete;
    Alarm& operator=(const Alarm&) = delete;

    [[nodiscard]] bool rang() const { return watch_->rang; }

private:
    struct Watch {
        boost::asio::ip::tcp::socket* socket;  // Null once nobody waits.
        bool rang = false;
    };

    std::shared_ptr<Watch> watch_;  // Shared with the timer's handler, which may run after this is gone.
    boost::asio::steady_timer timer_;
};

// One request on its way.
struct Call {
    const HttpClientOptions& options;
    const ServerUrl& server;
    const HttpRequest& request;
    NameLookups& names;
    SteadyTime deadline;

    // "The server https://h:p " + what + "."
    [[nodiscard]] HttpFault fault(HttpFault::Kind kind, const std::string& what) const;
};

// Opens a connection. Nothing: it is open.
boost::asio::awaitable<std::optional<HttpFault>> open_wire(const Call& call, Wire& wire);

struct Exchanged {
    HttpOutcome outcome;
    bool keeps = false;    // The connection can take another request.
    bool unheard = false;  // Nothing came back.
};

// Sends the request and reads its response.
boost::asio::awaitable<Exchanged> exchange(const Call& call, Wire& wire);

}  // namespace sluice::net
