// Feeds the NDJSON stream: writes COUNT new events as one chunked body, reads the answers as they come, and
// checks that every event got a slot, in order. How many slots a second go through one connection?
//
//   stream_client PORT COUNT RUN    RUN is any text that no earlier run against the same server had
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using Clock = std::chrono::steady_clock;

struct Events {
    std::string run;
    std::size_t count;

    // 36 characters, as a UUID has.
    [[nodiscard]] std::string id(std::size_t number) const {
        std::string digits = std::to_string(number);
        digits.insert(0, 19 - std::min<std::size_t>(19, digits.size()), '0');
        return run + '-' + digits;
    }
};

void write_events(tcp::socket& socket, const Events& events) {
    constexpr std::size_t kPiece = 64 * 1024;
    boost::system::error_code failed;
    const std::string head =
        "POST /api/v1/slots/stream HTTP/1.1\r\nHost: localhost\r\n"
        "Content-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n";
    asio::write(socket, asio::buffer(head), failed);
    std::string piece;
    const auto send = [&] {
        char size[32];
        const int length = std::snprintf(size, sizeof size, "%zx\r\n", piece.size());
        piece.insert(0, size, static_cast<std::size_t>(length));
        piece += "\r\n";
        asio::write(socket, asio::buffer(piece), failed);
        piece.clear();
    };
    for (std::size_t i = 0; i < events.count && !failed; ++i) {
        piece += R"({"eventId":")" + events.id(i) +
                 R"(","configName":"default","requestedTime":"2035-01-01T00:00:00Z"})" + '\n';
        if (piece.size() >= kPiece) {
            send();
        }
    }
    if (!piece.empty() && !failed) {
        send();
    }
    asio::write(socket, asio::buffer("0\r\n\r\n", 5), failed);
    if (failed) {
        std::fprintf(stderr, "stream_client: cannot write: %s\n", failed.message().c_str());
    }
}

// Takes answers apart into lines and compares each with the event that it must belong to.
class Answers {
public:
    explicit Answers(const Events& events) : events_{events} {}

    void add(std::string_view text) {
        rest_ += text;
        std::size_t start = 0;
        for (auto end = rest_.find('\n'); end != std::string::npos; end = rest_.find('\n', start)) {
            line(std::string_view{rest_}.substr(start, end - start));
            start = end + 1;
        }
        rest_.erase(0, start);
        if (const auto now = Clock::now(); now - told_ > std::chrono::seconds{2}) {
            told_ = now;
            std::fprintf(stderr, "    %zu of %zu slots\n", count_, events_.count);
        }
    }

    [[nodiscard]] bool complete() const { return wrong_ == 0 && count_ == events_.count && rest_.empty(); }
    [[nodiscard]] std::size_t count() const { return count_; }
    [[nodiscard]] std::size_t wrong() const { return wrong_; }

private:
    void line(std::string_view line) {
        const std::string start = R"({"eventId":")" + events_.id(count_++) + R"(","scheduledTime":")";
        if (!line.starts_with(start) && wrong_++ == 0) {
            std::fprintf(stderr, "stream_client: answer %zu is %.*s\n", count_, static_cast<int>(line.size()),
                         line.data());
        }
    }

    const Events& events_;
    std::string rest_;
    std::size_t count_ = 0;
    std::size_t wrong_ = 0;
    Clock::time_point told_ = Clock::now();
};

bool read_answers(tcp::socket& socket, Answers& answers) {
    boost::beast::flat_buffer buffer;
    http::response_parser<http::buffer_body> parser;
    parser.body_limit(boost::none);
    boost::system::error_code failed;
    http::read_header(socket, buffer, parser, failed);
    if (failed || parser.get().result() != http::status::ok) {
        std::fprintf(stderr, "stream_client: %s, status %u\n", failed.message().c_str(),
                     parser.get().result_int());
        return false;
    }
    std::string piece(64 * 1024, '\0');
    while (!failed && !parser.is_done()) {
        auto& body = parser.get().body();
        body.data = piece.data();
        body.size = piece.size();
        http::read_some(socket, buffer, parser, failed);
        if (failed == http::error::need_buffer) {
            failed = {};
        }
        answers.add({piece.data(), piece.size() - body.size});
    }
    if (failed) {
        std::fprintf(stderr, "stream_client: cannot read: %s\n", failed.message().c_str());
    }
    return !failed;
}

int run(std::uint16_t port, const Events& events) {
    asio::io_context context;
    tcp::socket socket{context};
    socket.connect({asio::ip::address_v4::loopback(), port});
    Answers answers{events};
    const auto start = Clock::now();
    std::jthread writer{[&] { write_events(socket, events); }};
    const bool read = read_answers(socket, answers);
    const std::chrono::duration<double> took = Clock::now() - start;
    if (!read || !answers.complete()) {
        std::fprintf(stderr, "stream_client: %zu answers to %zu events, %zu of them wrong\n", answers.count(),
                     events.count, answers.wrong());
        socket.close();
        return 1;
    }
    std::printf("rate %.1f\n", static_cast<double>(events.count) / took.count());
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 4) {
        std::fputs("usage: stream_client PORT COUNT RUN\n", stderr);
        return 2;
    }
    std::string name = argv[3];
    name.resize(16, '0');
    try {
        return run(static_cast<std::uint16_t>(std::atoi(argv[1])),
                   {name, std::strtoull(argv[2], nullptr, 10)});
    } catch (const std::exception& error) {
        std::fprintf(stderr, "stream_client: %s\n", error.what());
        return 1;
    }
}
