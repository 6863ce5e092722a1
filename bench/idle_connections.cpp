// Opens COUNT connections, asks for /healthz on each so that it is a connection in use, and then leaves them
// idle. What do they cost the server in memory?
//
//   idle_connections PORT COUNT    prints "open COUNT", waits for the end of its input, prints "alive N"
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <sys/resource.h>

namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;

void allow_files(rlim_t count) {
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur >= count) {
        return;
    }
    limit.rlim_cur = count;
    limit.rlim_max = std::max(limit.rlim_max, count);
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0) {
        throw std::runtime_error{"may not open that many files"};
    }
}

tcp::socket open_one(asio::io_context& context, std::uint16_t port) {
    tcp::socket socket{context};
    socket.connect({asio::ip::address_v4::loopback(), port});
    asio::write(socket, asio::buffer(std::string_view{"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"}));
    boost::beast::flat_buffer buffer;
    http::response<http::string_body> response;
    http::read(socket, buffer, response);
    if (response.result() != http::status::ok) {
        throw std::runtime_error{"status " + std::to_string(response.result_int())};
    }
    return socket;
}

// A server that has closed a connection has sent its end, which can be read at once.
bool is_alive(tcp::socket& socket) {
    char byte = 0;
    boost::system::error_code failed;
    socket.non_blocking(true);
    socket.receive(asio::buffer(&byte, 1), tcp::socket::message_peek, failed);
    return failed == asio::error::would_block;
}

void run(std::uint16_t port, std::size_t count) {
    allow_files(count + 64);
    asio::io_context context;
    std::vector<tcp::socket> sockets;
    sockets.reserve(count);
    while (sockets.size() < count) {
        sockets.push_back(open_one(context, port));
    }
    std::printf("open %zu\n", sockets.size());
    std::fflush(stdout);
    while (std::getchar() != EOF) {
    }
    std::size_t alive = 0;
    for (tcp::socket& socket : sockets) {
        alive += is_alive(socket) ? 1U : 0U;
    }
    std::printf("alive %zu\n", alive);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fputs("usage: idle_connections PORT COUNT\n", stderr);
        return 2;
    }
    try {
        run(static_cast<std::uint16_t>(std::atoi(argv[1])), std::strtoull(argv[2], nullptr, 10));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "idle_connections: %s\n", error.what());
        return 1;
    }
    return 0;
}
