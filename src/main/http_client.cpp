#include "main/http_client.hpp"

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>

#include "main/version.hpp"

namespace sluice {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using boost::system::error_code;

constexpr std::size_t kBodyMax = std::size_t{64} << 20U;

// One exchange. The steps are asynchronous only because a time-out needs that; each is waited for.
class Exchange {
public:
    Exchange(const net::HostPort& server, std::chrono::milliseconds patience) : server_{server} {
        stream_.expires_after(patience);
    }

    Result<HttpResponse, std::string> run(const HttpRequest& request) {
        asio::ip::tcp::resolver resolver{context_};
        error_code error;
        const auto addresses = resolver.resolve(server_.host, std::to_string(server_.port), error);
        if (error) {
            return failed("is not known", error);
        }
        stream_.async_connect(addresses, [&error](error_code code, const auto&) { error = code; });
        finish();
        if (error) {
            return failed("cannot be reached", error);
        }
        auto message = to_message(request);
        http::async_write(stream_, message, [&error](error_code code, std::size_t) { error = code; });
        finish();
        if (error) {
            return failed("did not take the request", error);
        }
        http::response_parser<http::string_body> parser;
        parser.body_limit(kBodyMax);
        beast::flat_buffer buffer;
        http::async_read(stream_, buffer, parser, [&error](error_code code, std::size_t) { error = code; });
        finish();
        if (error) {
            return failed("did not answer", error);
        }
        return HttpResponse{parser.get().result_int(), std::move(parser.get().body())};
    }

private:
    void finish() {
        context_.restart();
        context_.run();
    }

    http::request<http::string_body> to_message(const HttpRequest& request) const {
        constexpr unsigned kHttp11 = 11;
        http::request<http::string_body> message{http::string_to_verb(request.method), request.target,
                                                 kHttp11};
        message.set(http::field::host, server_.text());
        message.set(http::field::user_agent, "sluice/" + std::string{version()});
        message.set(http::field::connection, "close");
        if (!request.token.empty()) {
            message.set(http::field::authorization, "Bearer " + request.token);
        }
        if (!request.body.empty()) {
            message.set(http::field::content_type, "application/json");
            message.body() = request.body;
        }
        message.prepare_payload();
        return message;
    }

    Unexpected<std::string> failed(const std::string& what, const error_code& error) const {
        const bool late = error == beast::error::timeout;
        return Unexpected{"The server http://" + server_.text() + " " +
                          (late ? "did not answer in time" : what) +
                          (late ? "" : " (" + error.message() + ")") + "."};
    }

    const net::HostPort& server_;
    asio::io_context context_;
    beast::tcp_stream stream_{context_};
};

}  // namespace

Result<HttpResponse, std::string> send_request(const net::HostPort& server, const HttpRequest& request,
                                               std::chrono::milliseconds patience) {
    return Exchange{server, patience}.run(request);
}

std::string url_encoded(std::string_view text) {
    constexpr std::string_view kHex = "0123456789ABCDEF";
    std::string encoded;
    for (const char byte : text) {
        const bool plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
                           (byte >= '0' && byte <= '9') ||
                           std::string_view{"-._~"}.find(byte) != std::string::npos;
        if (plain) {
            encoded += byte;
        } else {
            encoded += '%';
            encoded += kHex[static_cast<unsigned char>(byte) >> 4U];
            encoded += kHex[static_cast<unsigned char>(byte) & 15U];
        }
    }
    return encoded;
}

}  // namespace sluice
