#pragma once

#include <string>

#include "net/connection.hpp"

namespace sluice::http {

// A client as HTTP sees it: the stream of bytes, and the time of day for its answers.
// Thread safety: none; belongs to the io thread of the stream.
class Connection {
public:
    // Both outlive it.
    Connection(net::Connection& stream, const std::string& date_line)
        : stream_{stream}, date_line_{date_line} {}

    // "Date: ...", with its line end. Renewed twice a second.
    [[nodiscard]] const std::string& date_line() const { return date_line_; }

    // As net::Connection has them.
    [[nodiscard]] std::string_view unread() const { return stream_.unread(); }
    void consume(std::size_t bytes) { stream_.consume(bytes); }
    boost::asio::awaitable<bool> read_more(std::size_t most, std::chrono::milliseconds patience) {
        return stream_.read_more(most, patience);
    }
    boost::asio::awaitable<bool> write(std::string_view bytes) { return stream_.write(bytes); }
    boost::asio::awaitable<void> linger() { return stream_.linger(); }
    [[nodiscard]] bool timed_out() const { return stream_.timed_out(); }
    [[nodiscard]] bool draining() const { return stream_.draining(); }
    [[nodiscard]] std::string remote_address() const { return stream_.remote_address(); }
    void shrink() { stream_.shrink(); }
    void set_idle(bool idle) { stream_.set_idle(idle); }
    void abort() { stream_.abort(); }

private:
    net::Connection& stream_;
    const std::string& date_line_;
};

}  // namespace sluice::http
