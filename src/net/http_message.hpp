#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace boost::asio::ip {
class address;
}

namespace sluice::net {

struct TlsContext;

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

struct HttpRequest {
    std::string method;
    std::string target;  // Path and query.
    std::string body{};
    HttpHeaders headers{};    // Beside those of the connection: Host, User-Agent, Content-Length.
    bool repeatable = false;  // It does no harm when it arrives twice.
    // Asked immediately before its first byte is written, over a connection that is open. False: it is not.
    std::function<bool()> may_write{};
};

struct HttpResponse {
    unsigned status = 0;
    std::string body;
    HttpHeaders headers;
    bool cut = false;  // The body was longer than is read; this is its beginning.

    // The value of the first header of this name, whatever its case. Empty when absent.
    [[nodiscard]] std::string_view header(std::string_view name) const;
};

// Why there is no response.
struct HttpFault {
    enum class Kind {
        BadRequest,      // The request cannot be written as HTTP.
        UnknownHost,     // The name has no address.
        AddressRefused,  // Every address of it was refused by `check_address`.
        Unreachable,     // Nobody listens there.
        Tls,             // No TLS with it: authority, name, expiry, or no TLS there at all.
        Late,
        TooLarge,
        Malformed,  // What came is not HTTP.
        Lost,       // The connection ended before the response did.
        Withheld,   // `may_write` said no.
    };
    Kind kind = Kind::Lost;
    std::string sentence;
    bool may_have_arrived = false;  // Some of the request was sent: its effect is unknown.
};

using HttpOutcome = Result<HttpResponse, HttpFault>;

struct HttpClientOptions {
    std::string user_agent = "sluice";
    std::chrono::milliseconds connect_timeout{5'000};  // From the name to the end of the TLS handshake.
    std::size_t body_max = std::size_t{64} << 20U;
    bool cut_bodies = false;            // What is longer than body_max is cut there. False: it is TooLarge.
    std::size_t idle_max = 8;           // Connections that are kept for the next request to the same server.
    std::size_t idle_max_of_all = 256;  // The same, to all servers together.
    std::chrono::milliseconds idle_time{20'000};  // How long one is kept.
    std::shared_ptr<TlsContext> tls{};  // For https://. Shared with the sessions that are made with it.
    std::size_t lookups_max = 2;        // Names that are searched for at the same time.
    // Finds the addresses of a name. Blocks, and is called by threads of the client; fails with a reason.
    // Empty: the system does.
    std::function<Result<std::vector<boost::asio::ip::address>, std::string>(const std::string& host)>
        find_addresses{};
    // Asked for the address of every connection before it is opened. A reason: it is not opened.
    std::function<std::optional<std::string>(const boost::asio::ip::address&)> check_address{};
};

// The text as a part of a path or a query: all but letters, digits and -._~ as %XX.
std::string url_encoded(std::string_view text);

}  // namespace sluice::net
