#include "net/io_threads.hpp"

#include <algorithm>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "net/connection.hpp"

namespace sluice::net {
namespace {

namespace asio = boost::asio;

constexpr std::chrono::milliseconds kSweep{500};

// Ends what waits for too long.
asio::awaitable<void> sweep(IoThread& thread, const IoThreads::EachSweep& each_sweep) {
    asio::steady_timer timer{thread.io};
    for (;;) {
        timer.expires_after(kSweep);
        boost::system::error_code error;
        co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, error));
        const auto now = std::chrono::steady_clock::now();
        for (Connection* connection : thread.connections) {
            connection->expire(now);
        }
        each_sweep(thread);
    }
}

}  // namespace

IoThreads::IoThreads(std::size_t count) {
    for (std::size_t i = 0; i < std::max<std::size_t>(1, count); ++i) {
        threads_.push_back(std::make_unique<IoThread>());
        threads_.back()->number = i;
    }
}

IoThreads::~IoThreads() { stop(); }

void IoThreads::start(EachSweep each_sweep) {
    each_sweep_ = std::move(each_sweep);
    for (const auto& thread : threads_) {
        each_sweep_(*thread);
        asio::co_spawn(thread->io, sweep(*thread, each_sweep_), asio::detached);
    }
    for (const auto& thread : threads_) {
        runners_.emplace_back([&io = thread->io] { io.run(); });
    }
}

void IoThreads::stop() {
    for (const auto& thread : threads_) {
        thread->io.stop();
    }
    runners_.clear();
}

}  // namespace sluice::net
