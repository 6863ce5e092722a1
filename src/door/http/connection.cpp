#include "door/http/connection.hpp"

#include <array>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

namespace sluice::http {
namespace {

namespace asio = boost::asio;

constexpr std::size_t kBufferMax = kBodyBytesMax + 16 * 1024;
constexpr std::size_t kKeptWhenIdle = 8 * 1024;
constexpr std::chrono::seconds kWritePatience{30};
constexpr std::chrono::seconds kLinger{1};
constexpr std::size_t kLingerBytesMax = kBatchBytesMax;  // A refused batch may have been sent as a whole.

}  // namespace

Connection::Connection(asio::ip::tcp::socket socket, IoThread& thread)
    : socket_{std::move(socket)}, thread_{thread}, buffer_{kBufferMax} {
    thread_.connections.insert(this);
    boost::system::error_code ignored;
    socket_.set_option(asio::ip::tcp::no_delay{true}, ignored);
}

Connection::~Connection() { thread_.connections.erase(this); }

std::string_view Connection::unread() const {
    return {static_cast<const char*>(buffer_.data().data()), buffer_.size()};
}

asio::awaitable<bool> Connection::read_more(std::size_t most, std::chrono::milliseconds patience) {
    timed_out_ = false;
    read_deadline_ = std::chrono::steady_clock::now() + patience;
    boost::system::error_code error;
    const std::size_t room = std::min(most, buffer_.max_size() - buffer_.size());
    const std::size_t bytes = co_await socket_.async_read_some(
        buffer_.prepare(room), asio::redirect_error(asio::use_awaitable, error));
    read_deadline_ = SteadyTime::max();
    buffer_.commit(bytes);
    co_return !error && bytes > 0;
}

asio::awaitable<bool> Connection::write(std::string_view bytes) {
    write_deadline_ = std::chrono::steady_clock::now() + kWritePatience;
    boost::system::error_code error;
    co_await asio::async_write(socket_, asio::buffer(bytes.data(), bytes.size()),
                               asio::redirect_error(asio::use_awaitable, error));
    write_deadline_ = SteadyTime::max();
    co_return !error;
}

asio::awaitable<void> Connection::linger() {
    boost::system::error_code error;
    socket_.shutdown(asio::ip::tcp::socket::shutdown_send, error);
    read_deadline_ = std::chrono::steady_clock::now() + kLinger;
    std::size_t dropped = 0;
    std::string scratch(kKeptWhenIdle, '\0');
    while (!error && dropped < kLingerBytesMax) {
        const std::size_t bytes = co_await socket_.async_read_some(
            asio::buffer(scratch), asio::redirect_error(asio::use_awaitable, error));
        dropped += bytes;
    }
}

std::string Connection::remote_address() const {
    boost::system::error_code error;
    const auto endpoint = socket_.remote_endpoint(error);
    return error ? std::string{"unknown"} : endpoint.address().to_string();
}

void Connection::shrink() {
    if (buffer_.capacity() > kKeptWhenIdle) {
        buffer_.shrink_to_fit();
    }
}

void Connection::expire(SteadyTime now) {
    if (now >= read_deadline_ || now >= write_deadline_) {
        read_deadline_ = write_deadline_ = SteadyTime::max();
        timed_out_ = true;
        boost::system::error_code ignored;
        socket_.cancel(ignored);
    }
}

void Connection::end_if_idle() {
    if (idle_) {
        abort();
    }
}

void Connection::abort() {
    boost::system::error_code ignored;
    socket_.close(ignored);
}

}  // namespace sluice::http
