#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>

#include "net/io_threads.hpp"

namespace sluice::net {

struct TlsContext;
struct TlsStream;

// What a protocol needs of its connections.
struct ConnectionLimits {
    std::size_t buffer_max = 64 * 1024;         // Bytes that are read ahead.
    std::size_t linger_bytes_max = 256 * 1024;  // Bytes that are read and dropped after the last answer.
};

enum class Handshake {
    Done,
    NoTls,  // What came was not TLS. A few plain words may still be sent.
    Failed,
};

// A client's socket, plain or with TLS, with what was read ahead, and the deadline of what it is waited for.
// Deadlines are looked at by a sweeper twice a second instead of by a timer each: a timer per read would cost
// more than the read.
// Thread safety: none; belongs to its IoThread.
class Connection {
public:
    using SteadyTime = std::chrono::steady_clock::time_point;

    Connection(boost::asio::ip::tcp::socket socket, IoThread& thread, const ConnectionLimits& limits);
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    // Speaks TLS from now on. All of the handshake must come within the patience.
    boost::asio::awaitable<Handshake> shake_hands(std::shared_ptr<TlsContext> context,
                                                  std::chrono::milliseconds patience);
    // What went wrong in it, for the log.
    [[nodiscard]] const std::string& handshake_fault() const { return handshake_fault_; }

    // What was read and not yet consumed.
    [[nodiscard]] std::string_view unread() const;
    void consume(std::size_t bytes) { buffer_.consume(bytes); }

    // Reads what comes next, at most `most` bytes. False when nothing will come: closed, cut off, failed or
    // too late.
    boost::asio::awaitable<bool> read_more(std::size_t most, std::chrono::milliseconds patience);
    // Writes all of it. False when the client is gone or takes nothing.
    boost::asio::awaitable<bool> write(std::string_view bytes);
    // Says that nothing more will be written and reads on for a moment, so that the last answer is not lost
    // to a reset while the client is still sending.
    boost::asio::awaitable<void> linger();
    // Over TLS, says that nothing more will come, so that the client knows that nothing was cut off.
    boost::asio::awaitable<void> say_goodbye();

    // True when a wait ended because its patience was over.
    [[nodiscard]] bool timed_out() const { return timed_out_; }
    [[nodiscard]] const IoThread& thread() const { return thread_; }
    [[nodiscard]] bool draining() const { return thread_.draining; }
    [[nodiscard]] std::string remote_address() const;

    // Gives memory back that a large request took.
    void shrink();
    // Between two requests nothing is lost when the connection ends.
    void set_idle(bool idle) { idle_ = idle; }

    // For the sweeper.
    void expire(SteadyTime now);
    // For the drain: ends what is idle, at once.
    void end_if_idle();
    void abort();

private:
    template <class Stream>
    boost::asio::awaitable<bool> read_from(Stream& stream, std::size_t most,
                                           std::chrono::milliseconds patience);
    template <class Stream>
    boost::asio::awaitable<bool> write_to(Stream& stream, std::string_view bytes);

    boost::asio::ip::tcp::socket socket_;
    std::unique_ptr<TlsStream> tls_;  // Over socket_. Null: plain.
    IoThread& thread_;
    const ConnectionLimits& limits_;
    boost::beast::flat_buffer buffer_;
    SteadyTime read_deadline_ = SteadyTime::max();  // Apart: a stream reads and writes at the same time.
    SteadyTime write_deadline_ = SteadyTime::max();
    bool timed_out_ = false;
    bool idle_ = false;
    bool said_goodbye_ = false;
    std::string handshake_fault_;
};

}  // namespace sluice::net
