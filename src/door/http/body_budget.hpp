#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

namespace sluice::http {

class BodyShare;

// Bounds the memory that large bodies take together, over all connections. A body counts for what has arrived
// of it: one that only announces much keeps nobody out. Where there is no room, bodies wait in line. One body
// at a time may go beyond the bound, by no more than its own size: else some that are half read could wait
// for each other for ever.
// Thread safety: all of it.
class BodyBudget {
public:
    static constexpr std::size_t kBytesMax = 128 * 1024 * 1024;

    explicit BodyBudget(std::size_t bytes_max = kBytesMax) : bytes_max_{bytes_max} {}

    // From here on nobody in line is woken: the threads that would run them are about to go.
    void close();
    [[nodiscard]] std::size_t taken() const;

private:
    friend class BodyShare;

    bool grant(BodyShare& share);  // Under mutex_.
    void serve_line() noexcept;    // Under mutex_.

    const std::size_t bytes_max_;
    mutable std::mutex mutex_;
    std::size_t taken_ = 0;        // Guarded by mutex_.
    BodyShare* beyond_ = nullptr;  // Guarded by mutex_. The one that may go beyond the bound.
    std::deque<BodyShare*> line_;  // Guarded by mutex_. Who waits, in order.
};

// What one body has taken of the budget, given back when its owner is done.
// Thread safety: none; belongs to the thread of its connection.
class BodyShare {
public:
    explicit BodyShare(BodyBudget& budget) : budget_{budget} {}
    ~BodyShare();
    BodyShare(const BodyShare&) = delete;
    BodyShare& operator=(const BodyShare&) = delete;

    // Has the body count for so many bytes in all. False when there was no room in time.
    boost::asio::awaitable<bool> grow_to(std::size_t bytes, std::chrono::milliseconds patience);

private:
    friend class BodyBudget;

    BodyBudget& budget_;
    std::size_t bytes_ = 0;                             // Guarded by the budget's mutex, like the next.
    std::size_t wanted_ = 0;                            // Equal to bytes_ unless it waits.
    std::shared_ptr<boost::asio::steady_timer> alarm_;  // Ends its wait, early when it is cancelled.
};

}  // namespace sluice::http
