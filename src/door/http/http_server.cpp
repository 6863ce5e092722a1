#include "door/http/http_server.hpp"

#include <array>
#include <ctime>
#include <vector>

#include "door/http/request_head.hpp"
#include "door/http/response_text.hpp"
#include "door/http/routes.hpp"
#include "door/http/session.hpp"
#include "net/listener.hpp"

namespace sluice::http {
namespace {

std::string date_line(std::time_t now) {
    std::tm fields{};
    gmtime_r(&now, &fields);
    std::array<char, 48> text{};
    const std::size_t size =
        std::strftime(text.data(), text.size(), "Date: %a, %d %b %Y %H:%M:%S GMT\r\n", &fields);
    return {text.data(), size};
}

class ServerImpl final : public Server, private net::Protocol {
public:
    ServerImpl(const ServerOptions& options, const ServerWorld& world)
        : shared_{options, world.gate, world.log, Router{world.tables}},
          threads_{options.io_threads},
          date_lines_(threads_.size()) {
        append_response(answer_without_tls_,
                        answer({400, "tls_required", "This port speaks TLS: begin with https://."}),
                        {"", After::Close});
    }

    ~ServerImpl() override {
        threads_.stop();
        shared_.large_bodies.close();
    }

    Result<void, std::string> start() {
        const ServerOptions& options = shared_.options;
        net::ListenerOptions wanted;
        wanted.host = options.host;
        wanted.port = options.port;
        wanted.connections_max = options.connections_max;
        wanted.handshake_timeout = options.receive_timeout;
        wanted.connection = {.buffer_max = kBodyBytesMax + kHeadBytesMax,
                             .linger_bytes_max = kBatchBytesMax};  // It may have been sent as a whole.
        auto opened = net::open_listener(wanted, {threads_, *this, shared_.log, options.tls});
        if (!opened) {
            return Unexpected{opened.error()};
        }
        listener_ = std::move(*opened);
        threads_.start([this](const net::IoThread& thread) {
            date_lines_[thread.number] = date_line(std::time(nullptr));
        });
        return {};
    }

    std::uint16_t port() const override { return listener_->port(); }
    std::size_t connections_approx() const override { return listener_->connections_approx(); }
    void drain(std::chrono::milliseconds patience) override { listener_->drain(patience); }

private:
    boost::asio::awaitable<void> serve(net::Connection& connection) override {
        return serve_connection(in_http(connection), shared_);
    }

    boost::asio::awaitable<void> turn_away(net::Connection& connection) override {
        return http::turn_away(in_http(connection));
    }

    std::string_view answer_without_tls() const override { return answer_without_tls_; }

    Connection in_http(net::Connection& connection) {
        return {connection, date_lines_[connection.thread().number]};
    }

    SessionWorld shared_;
    net::IoThreads threads_;
    std::vector<std::string> date_lines_;  // One for each thread, touched by that thread alone.
    std::string answer_without_tls_;
    std::unique_ptr<net::Listener> listener_;
};

}  // namespace

Result<std::unique_ptr<Server>, std::string> start_server(const ServerOptions& options,
                                                          const ServerWorld& world) {
    auto server = std::make_unique<ServerImpl>(options, world);
    if (const auto started = server->start(); !started) {
        return Unexpected{started.error()};
    }
    return std::unique_ptr<Server>{std::move(server)};
}

}  // namespace sluice::http
