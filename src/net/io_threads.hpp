#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <thread>
#include <unordered_set>
#include <vector>

#include <boost/asio/io_context.hpp>

namespace sluice::net {

class Connection;

// One thread with its connections, all of which are touched by this thread alone.
struct IoThread {
    std::size_t number = 0;  // From 0 on.
    std::unordered_set<Connection*> connections;
    bool draining = false;          // The process is about to end.
    boost::asio::io_context io{1};  // Last: connections that it still holds when it goes leave the set above.
};

// The threads that serve sockets. A sweeper in each of them looks at the deadlines of its connections twice a
// second. Listeners and clients may share them.
// Thread safety: at() and size() from everywhere; the rest belongs to whoever made it.
class IoThreads {
public:
    using EachSweep = std::function<void(const IoThread&)>;

    explicit IoThreads(std::size_t count);
    ~IoThreads();
    IoThreads(const IoThreads&) = delete;
    IoThreads& operator=(const IoThreads&) = delete;

    // Runs them. `each_sweep` is called for every thread before it starts, and then by itself at every sweep.
    void start(EachSweep each_sweep);
    // Returns when none of them runs any more. What they were at stays where it is until this object goes.
    void stop();

    [[nodiscard]] std::size_t size() const { return threads_.size(); }
    IoThread& at(std::size_t number) { return *threads_[number]; }

private:
    EachSweep each_sweep_;
    std::vector<std::unique_ptr<IoThread>> threads_;
    std::vector<std::jthread> runners_;
};

}  // namespace sluice::net
