#include "net/connection.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include "net/tls_stream_internal.hpp"

namespace sluice::net {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

// In this folder every co_await stands alone in its statement: inside conditions and larger expressions GCC
// 12 generates code that traps or destroys temporaries twice.

constexpr std::size_t kKeptWhenIdle = 8 * 1024;
constexpr std::chrono::seconds kWritePatience{30};
constexpr std::chrono::seconds kLinger{1};

bool is_no_tls(const error_code& failure) {
    const int reason = ERR_GET_REASON(static_cast<unsigned long>(failure.value()));
    return failure.category() == asio::error::get_ssl_category() &&
           (reason == SSL_R_HTTP_REQUEST || reason == SSL_R_WRONG_VERSION_NUMBER);
}

}  // namespace

Connection::Connection(asio::ip::tcp::socket socket, IoThread& thread, const ConnectionLimits& limits)
    : socket_{std::move(socket)}, thread_{thread}, limits_{limits}, buffer_{limits.buffer_max} {
    thread_.connections.insert(this);
    error_code ignored;
    socket_.set_option(asio::ip::tcp::no_delay{true}, ignored);
}

Connection::~Connection() { thread_.connections.erase(this); }

asio::awaitable<Handshake> Connection::shake_hands(std::shared_ptr<TlsContext> context,
                                                   std::chrono::milliseconds patience) {
    tls_ = std::make_unique<TlsStream>(socket_, std::move(context));
    timed_out_ = false;
    idle_ = true;
    read_deadline_ = std::chrono::steady_clock::now() + patience;
    error_code error;
    co_await tls_->stream.async_handshake(asio::ssl::stream_base::server,
                                          asio::redirect_error(asio::use_awaitable, error));
    read_deadline_ = SteadyTime::max();
    idle_ = false;
    if (!error) {
        co_return Handshake::Done;
    }
    handshake_fault_ = timed_out_ ? "it did not finish in time" : tls_->fault(error);
    tls_.reset();
    co_return is_no_tls(error) ? Handshake::NoTls : Handshake::Failed;
}

std::string_view Connection::unread() const {
    return {static_cast<const char*>(buffer_.data().data()), buffer_.size()};
}

template <class Stream>
asio::awaitable<bool> Connection::read_from(Stream& stream, std::size_t most,
                                            std::chrono::milliseconds patience) {
    timed_out_ = false;
    read_deadline_ = std::chrono::steady_clock::now() + patience;
    error_code error;
    const std::size_t room = std::min(most, buffer_.max_size() - buffer_.size());
    const std::size_t bytes = co_await stream.async_read_some(
        buffer_.prepare(room), asio::redirect_error(asio::use_awaitable, error));
    read_deadline_ = SteadyTime::max();
    buffer_.commit(bytes);
    co_return !error && bytes > 0;
}

asio::awaitable<bool> Connection::read_more(std::size_t most, std::chrono::milliseconds patience) {
    return tls_ ? read_from(tls_->stream, most, patience) : read_from(socket_, most, patience);
}

template <class Stream>
asio::awaitable<bool> Connection::write_to(Stream& stream, std::string_view bytes) {
    write_deadline_ = std::chrono::steady_clock::now() + kWritePatience;
    error_code error;
    co_await asio::async_write(stream, asio::buffer(bytes.data(), bytes.size()),
                               asio::redirect_error(asio::use_awaitable, error));
    write_deadline_ = SteadyTime::max();
    co_return !error;
}

asio::awaitable<bool> Connection::write(std::string_view bytes) {
    return tls_ ? write_to(tls_->stream, bytes) : write_to(socket_, bytes);
}

asio::awaitable<void> Connection::linger() {
    co_await say_goodbye();
    error_code error;
    socket_.shutdown(asio::ip::tcp::socket::shutdown_send, error);
    read_deadline_ = std::chrono::steady_clock::now() + kLinger;
    std::size_t dropped = 0;
    std::string scratch(kKeptWhenIdle, '\0');
    while (!error && dropped < limits_.linger_bytes_max) {
        const std::size_t bytes = co_await socket_.async_read_some(
            asio::buffer(scratch), asio::redirect_error(asio::use_awaitable, error));
        dropped += bytes;
    }
}

asio::awaitable<void> Connection::say_goodbye() {
    if (!tls_ || said_goodbye_ || !socket_.is_open()) {
        co_return;
    }
    said_goodbye_ = true;
    read_deadline_ = std::chrono::steady_clock::now() + kLinger;
    error_code ignored;  // A client that is gone, or that says no goodbye itself.
    co_await tls_->stream.async_shutdown(asio::redirect_error(asio::use_awaitable, ignored));
    read_deadline_ = SteadyTime::max();
}

std::string Connection::remote_address() const {
    error_code error;
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
        error_code ignored;
        socket_.cancel(ignored);
    }
}

void Connection::end_if_idle() {
    if (!idle_) {
        return;
    }
    if (tls_) {
        error_code ignored;  // Its reader finds that nothing will come, and says goodbye.
        socket_.cancel(ignored);
    } else {
        abort();
    }
}

void Connection::abort() {
    error_code ignored;
    socket_.close(ignored);
}

}  // namespace sluice::net
