#pragma once

#include <chrono>
#include <string>
#include <unordered_set>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>

#include "door/http/routes.hpp"

namespace sluice::http {

class Connection;

// One thread of the door with its connections, all of which are touched by this thread alone.
struct IoThread {
    std::unordered_set<Connection*> connections;
    std::string date_line;  // "Date: ...", renewed by the sweeper.
    bool draining = false;
    boost::asio::io_context io{1};  // Last: connections that it still holds when it goes leave the set above.
};

// A client's socket with what was read ahead, and the deadline of what it is waited for. Deadlines are looked
// at by a sweeper twice a second instead of by a timer each: a timer per read would cost more than the read.
// Thread safety: none; belongs to its IoThread.
class Connection {
public:
    using SteadyTime = std::chrono::steady_clock::time_point;

    Connection(boost::asio::ip::tcp::socket socket, IoThread& thread);
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    // What was read and not yet consumed.
    [[nodiscard]] std::string_view unread() const;
    void consume(std::size_t bytes) { buffer_.consume(bytes); }

    // Reads what comes next, at most `most` bytes. False when nothing will come: closed, failed or too late.
    boost::asio::awaitable<bool> read_more(std::size_t most, std::chrono::milliseconds patience);
    // Writes all of it. False when the client is gone or takes nothing.
    boost::asio::awaitable<bool> write(std::string_view bytes);
    // Says that nothing more will be written and reads on for a moment, so that the last answer is not lost
    // to a reset while the client is still sending.
    boost::asio::awaitable<void> linger();

    // True when a wait ended because its patience was over.
    [[nodiscard]] bool timed_out() const { return timed_out_; }
    [[nodiscard]] bool draining() const { return thread_.draining; }
    [[nodiscard]] const std::string& date_line() const { return thread_.date_line; }
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
    boost::asio::ip::tcp::socket socket_;
    IoThread& thread_;
    boost::beast::flat_buffer buffer_;
    SteadyTime read_deadline_ = SteadyTime::max();  // Apart: a stream reads and writes at the same time.
    SteadyTime write_deadline_ = SteadyTime::max();
    bool timed_out_ = false;
    bool idle_ = false;
};

}  // namespace sluice::http
