// One request over a connection, and its response.
#include <algorithm>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>

#include "net/bounded_body_internal.hpp"
#include "net/http_call_internal.hpp"
#include "net/tls_client_internal.hpp"

namespace sluice::net {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;
using Kind = HttpFault::Kind;
using Message = http::request<http::string_body>;
using Parser = http::response_parser<BoundedBody>;

constexpr std::size_t kHeadMax = 16 * 1024;
constexpr int kInterimMax = 8;  // Responses 1xx that may come before the one that counts.

bool has_control(std::string_view text) {
    return std::any_of(text.begin(), text.end(),
                       [](char byte) { return static_cast<unsigned char>(byte) < 0x20 || byte == 0x7F; });
}

bool is_token(std::string_view text) {
    constexpr std::string_view kNone = "()<>@,;:\\\"/[]?={} \t";
    return !text.empty() && !has_control(text) && text.find_first_of(kNone) == std::string_view::npos;
}

// What could be read as something else than it was meant for.
bool is_writable(const HttpRequest& request) {
    const bool headers = std::all_of(request.headers.begin(), request.headers.end(), [](const auto& header) {
        return is_token(header.first) && !has_control(header.second);
    });
    return headers && is_token(request.method) && request.target.starts_with('/') &&
           !has_control(request.target) && request.target.find(' ') == std::string::npos;
}

// As the standard wants it: without the port that everybody expects.
std::string host_of(const ServerUrl& server) {
    constexpr std::uint16_t kPlainPort = 80;
    constexpr std::uint16_t kTlsPort = 443;
    std::string text = server.address.text();
    if (server.address.port == (server.tls ? kTlsPort : kPlainPort)) {
        text.resize(text.rfind(':'));
    }
    return text;
}

Message to_message(const Call& call) {
    constexpr unsigned kHttp11 = 11;
    Message message;
    message.version(kHttp11);
    message.method_string(call.request.method);
    message.target(call.request.target);
    message.set(http::field::host, host_of(call.server));
    message.set(http::field::user_agent, call.options.user_agent);
    for (const auto& [name, value] : call.request.headers) {
        message.set(name, value);
    }
    message.body() = call.request.body;
    message.prepare_payload();
    return message;
}

HttpResponse to_response(Parser& parser) {
    BoundedBody::value_type& body = parser.get().body();
    HttpResponse response{parser.get().result_int(), std::move(body.bytes), {}, body.cut};
    for (const auto& field : parser.get()) {
        response.headers.emplace_back(std::string{field.name_string()}, std::string{field.value()});
    }
    return response;
}

HttpFault fault_of(const Call& call, Wire& wire, const error_code& error) {
    if (error == http::error::body_limit || error == http::error::header_limit) {
        return call.fault(Kind::TooLarge, "answered with more than is read here (" + error.message() + ")");
    }
    if (error == http::error::end_of_stream || error == http::error::partial_message ||
        error == asio::ssl::error::stream_truncated) {
        return call.fault(Kind::Lost, "did not answer (" + error.message() + ")");
    }
    if (error.category() == http::make_error_code(http::error::bad_version).category()) {
        return call.fault(Kind::Malformed, "did not answer in HTTP (" + error.message() + ")");
    }
    if (wire.tls && error.category() == asio::error::get_ssl_category()) {
        return call.fault(
            Kind::Tls, tls_fault(wire.tls->stream.native_handle(), static_cast<unsigned long>(error.value()),
                                 call.server.address.host));
    }
    return call.fault(Kind::Lost, "did not answer (" + error.message() + ")");
}

template <class Stream>
asio::awaitable<Exchanged> exchange_over(const Call& call, Wire& wire, Stream& stream) {
    const Alarm alarm{wire.socket, call.deadline};
    const Message message = to_message(call);
    if (call.request.may_write && !call.request.may_write()) {
        co_return Exchanged{Unexpected{call.fault(Kind::Withheld, "was not asked: it must not be any more")},
                            true};
    }
    error_code error;
    co_await http::async_write(stream, message, asio::redirect_error(asio::use_awaitable, error));
    std::optional<Parser> parser;
    // Also when it could not be written to its end: a server may refuse it before, and say so.
    const bool written = !error;
    for (int interim = 0; interim < kInterimMax; ++interim) {
        parser.emplace();
        parser->body_limit(boost::none);  // The body has its own, which leaves its beginning.
        parser->get().body().most = call.options.body_max;
        parser->header_limit(kHeadMax);
        parser->skip(call.request.method == "HEAD");
        error_code failed;
        co_await http::async_read(stream, wire.buffer, *parser,
                                  asio::redirect_error(asio::use_awaitable, failed));
        error = failed;
        if (error || parser->get().result_int() >= 200) {
            break;
        }
    }
    if (!error) {
        const bool keeps = written && parser->keep_alive() && wire.buffer.size() == 0;
        co_return Exchanged{to_response(*parser), keeps, false};
    }
    if (error == http::error::body_limit && call.options.cut_bodies) {
        co_return Exchanged{to_response(*parser)};
    }
    HttpFault fault =
        alarm.rang() ? call.fault(Kind::Late, "did not answer in time") : fault_of(call, wire, error);
    fault.may_have_arrived = true;
    co_return Exchanged{Unexpected{std::move(fault)}, false, !parser->got_some() && !alarm.rang()};
}

}  // namespace

asio::awaitable<Exchanged> exchange(const Call& call, Wire& wire) {
    if (!is_writable(call.request)) {
        co_return Exchanged{
            Unexpected{call.fault(Kind::BadRequest, "is not called: the request cannot be written")}};
    }
    if (wire.tls) {
        co_return co_await exchange_over(call, wire, wire.tls->stream);
    }
    co_return co_await exchange_over(call, wire, wire.socket);
}

}  // namespace sluice::net
