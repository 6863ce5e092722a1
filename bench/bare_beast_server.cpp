// The least that a Boost.Beast server does for a request: reads it whole, and answers a fixed body of the
// length of a slot. Neither routes nor parses nor stores anything and knows no timeouts, so no server on
// Beast is faster by much: it is the measure of what Sluice's own work costs.
//
//   bare_beast_server [PORT]    listens on 127.0.0.1, by default on any free port, and prints the port
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;

constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);
constexpr std::string_view kSlot = R"({"eventId":"00000000-0000-4000-8000-000000000000",)"
                                   R"("scheduledTime":"2035-01-01T00:00:02.371Z","delayMs":2371})";

asio::awaitable<void> serve(tcp::socket socket) {
    boost::beast::flat_buffer buffer;
    for (;;) {
        http::request<http::string_body> request;
        if (const auto [failed, size] = co_await http::async_read(socket, buffer, request, kAwait); failed) {
            break;
        }
        http::response<http::string_body> response{http::status::ok, request.version()};
        response.set(http::field::content_type, "application/json");
        response.keep_alive(request.keep_alive());
        response.body() = kSlot;
        response.prepare_payload();
        const auto [failed, size] = co_await http::async_write(socket, response, kAwait);
        if (failed || !response.keep_alive()) {
            break;
        }
    }
    boost::system::error_code ignored;
    socket.shutdown(tcp::socket::shutdown_send, ignored);
}

// Connections go to the threads in turn; each stays with its own.
asio::awaitable<void> listen(tcp::acceptor& acceptor,
                             std::vector<std::unique_ptr<asio::io_context>>& contexts) {
    for (std::size_t next = 0;; next = (next + 1) % contexts.size()) {
        auto& context = *contexts[next];
        tcp::socket socket{context};
        if (const auto [failed] = co_await acceptor.async_accept(socket, kAwait); failed) {
            std::fprintf(stderr, "bare_beast_server: %s\n", failed.message().c_str());
            continue;
        }
        socket.set_option(tcp::no_delay{true});
        asio::co_spawn(context, serve(std::move(socket)), asio::detached);
    }
}

void run(std::uint16_t port) {
    std::vector<std::unique_ptr<asio::io_context>> contexts;
    for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i) {
        contexts.push_back(std::make_unique<asio::io_context>(1));
    }
    tcp::acceptor acceptor{*contexts[0], {asio::ip::address_v4::loopback(), port}};
    std::printf("%u\n", static_cast<unsigned>(acceptor.local_endpoint().port()));
    std::fflush(stdout);
    asio::signal_set stop{*contexts[0], SIGINT, SIGTERM};
    stop.async_wait([&contexts](const auto&, int) {
        for (auto& context : contexts) {
            context->stop();
        }
    });
    asio::co_spawn(*contexts[0], listen(acceptor, contexts), asio::detached);
    std::vector<std::jthread> threads;
    threads.reserve(contexts.size());
    for (auto& context : contexts) {
        threads.emplace_back([&context] {
            const auto busy = asio::make_work_guard(*context);
            context->run();
        });
    }
}

}  // namespace

int main(int argc, char** argv) {
    try {
        run(argc > 1 ? static_cast<std::uint16_t>(std::atoi(argv[1])) : 0);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "bare_beast_server: %s\n", error.what());
        return 1;
    }
    return 0;
}
