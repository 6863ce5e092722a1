// How a client's connection is opened: name, address, socket, TLS.
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "net/http_call_internal.hpp"
#include "net/tls_client_internal.hpp"

namespace sluice::net {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using Endpoints = std::vector<tcp::endpoint>;
using Kind = HttpFault::Kind;

asio::awaitable<Result<Endpoints, HttpFault>> look_up(const Call& call, SteadyTime deadline) {
    const HostPort& address = call.server.address;
    error_code error;
    const auto numeric = asio::ip::make_address(address.host, error);
    if (!error) {
        co_return Endpoints{{numeric, address.port}};
    }
    const auto found = co_await call.names.find(address.host, deadline);
    if (!found) {
        co_return Unexpected{call.fault(Kind::Late, "did not answer in time")};
    }
    if (!*found) {
        co_return Unexpected{call.fault(Kind::UnknownHost, "is not known (" + found->error() + ")")};
    }
    Endpoints endpoints;
    for (const asio::ip::address& each : **found) {
        endpoints.emplace_back(each, address.port);
    }
    co_return endpoints;
}

// Nothing: connected.
asio::awaitable<std::optional<HttpFault>> connect_to(const Call& call, Wire& wire, tcp::endpoint endpoint,
                                                     SteadyTime deadline) {
    if (call.options.check_address) {
        if (const auto reason = call.options.check_address(endpoint.address())) {
            co_return call.fault(Kind::AddressRefused, "is not called: its address " +
                                                           endpoint.address().to_string() + " " + *reason);
        }
    }
    error_code error;
    wire.socket.close(error);
    wire.socket.open(endpoint.protocol(), error);
    if (error) {
        co_return call.fault(Kind::Unreachable, "cannot be reached (" + error.message() + ")");
    }
    const Alarm alarm{wire.socket, deadline};
    co_await wire.socket.async_connect(endpoint, asio::redirect_error(asio::use_awaitable, error));
    if (alarm.rang()) {
        co_return call.fault(Kind::Late, "did not answer in time");
    }
    if (error) {
        co_return call.fault(Kind::Unreachable, "cannot be reached (" + error.message() + ")");
    }
    wire.socket.set_option(tcp::no_delay{true}, error);
    co_return std::nullopt;
}

asio::awaitable<std::optional<HttpFault>> begin_tls(const Call& call, Wire& wire, SteadyTime deadline) {
    if (!call.options.tls) {
        co_return call.fault(Kind::Tls, "cannot be called: this client has no TLS");
    }
    const std::string& host = call.server.address.host;
    wire.tls = std::make_unique<TlsStream>(wire.socket, call.options.tls);
    SSL* const session = wire.tls->stream.native_handle();
    if (!expect_host(session, host)) {
        co_return call.fault(Kind::Tls, "fails in TLS: there is no memory");
    }
    const Alarm alarm{wire.socket, deadline};
    error_code error;
    co_await wire.tls->stream.async_handshake(asio::ssl::stream_base::client,
                                              asio::redirect_error(asio::use_awaitable, error));
    if (alarm.rang()) {
        co_return call.fault(Kind::Late, "did not answer in time to TLS; this port may not speak it");
    }
    if (error) {
        const bool of_tls = error.category() == asio::error::get_ssl_category();
        co_return call.fault(
            Kind::Tls, tls_fault(session, of_tls ? static_cast<unsigned long>(error.value()) : 0, host));
    }
    co_return std::nullopt;
}

}  // namespace

Alarm::Alarm(tcp::socket& socket, SteadyTime when)
    : watch_{std::make_shared<Watch>(Watch{&socket})}, timer_{socket.get_executor(), when} {
    timer_.async_wait([watch = watch_](error_code stopped) {
        if (stopped || watch->socket == nullptr) {
            return;
        }
        watch->rang = true;
        error_code ignored;
        watch->socket->close(ignored);
    });
}

HttpFault Call::fault(HttpFault::Kind kind, const std::string& what) const {
    return {kind, "The server " + server.text() + " " + what + ".", false};
}

asio::awaitable<std::optional<HttpFault>> open_wire(const Call& call, Wire& wire) {
    const SteadyTime deadline =
        std::min(call.deadline, std::chrono::steady_clock::now() + call.options.connect_timeout);
    auto endpoints = co_await look_up(call, deadline);
    if (!endpoints) {
        co_return endpoints.error();
    }
    std::optional<HttpFault> fault = call.fault(Kind::UnknownHost, "is not known (no address)");
    std::optional<HttpFault> tried;  // By an address that was not refused: then the name is not, as a whole.
    for (std::size_t i = 0; i < endpoints->size() && fault; ++i) {
        // One that swallows all leaves some time for the others.
        const auto now = std::chrono::steady_clock::now();
        const auto share = (deadline - now) / static_cast<int>(endpoints->size() - i);
        fault = co_await connect_to(call, wire, (*endpoints)[i], now + share);
        if (fault && fault->kind != Kind::AddressRefused) {
            tried = fault;
        }
    }
    if (fault) {
        co_return tried ? tried : fault;
    }
    if (call.server.tls) {
        fault = co_await begin_tls(call, wire, deadline);
    }
    co_return fault;
}

}  // namespace sluice::net
