#include "door/http/http_server.hpp"

#include <atomic>
#include <condition_variable>
#include <ctime>
#include <thread>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "door/http/session.hpp"

namespace sluice::http {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

constexpr std::chrono::milliseconds kSweep{500};
constexpr std::chrono::milliseconds kAcceptPause{50};

std::string date_line(std::time_t now) {
    std::tm fields{};
    gmtime_r(&now, &fields);
    std::array<char, 48> text{};
    const std::size_t size =
        std::strftime(text.data(), text.size(), "Date: %a, %d %b %Y %H:%M:%S GMT\r\n", &fields);
    return {text.data(), size};
}

class ServerImpl final : public Server {
public:
    ServerImpl(const ServerOptions& options, ServerWorld world) : shared_{options, std::move(world)} {
        for (std::size_t i = 0; i < std::max<std::size_t>(1, options.io_threads); ++i) {
            threads_.push_back(std::make_unique<IoThread>());
        }
        acceptor_ = std::make_unique<tcp::acceptor>(threads_.front()->io);
    }

    ~ServerImpl() override {
        for (const auto& thread : threads_) {
            thread->io.stop();
        }
        runners_.clear();
        shared_.large_bodies.close();
    }

    boost::system::error_code listen() {
        boost::system::error_code error;
        const auto address = asio::ip::make_address(shared_.options.host, error);
        const tcp::endpoint endpoint{address, shared_.options.port};
        if (error || acceptor_->open(endpoint.protocol(), error) ||
            acceptor_->set_option(tcp::acceptor::reuse_address{true}, error) ||
            acceptor_->bind(endpoint, error) ||
            acceptor_->listen(asio::socket_base::max_listen_connections, error)) {
            return error;
        }
        port_ = acceptor_->local_endpoint().port();
        return {};
    }

    void start() {
        for (const auto& thread : threads_) {
            thread->date_line = date_line(std::time(nullptr));
            asio::co_spawn(thread->io, sweep(*thread), asio::detached);
        }
        asio::co_spawn(threads_.front()->io, accept(), asio::detached);
        for (const auto& thread : threads_) {
            runners_.emplace_back([&io = thread->io] { io.run(); });
        }
    }

    std::uint16_t port() const override { return port_; }
    std::size_t connections_approx() const override { return connections_.load(std::memory_order_relaxed); }

    void drain(std::chrono::milliseconds patience) override {
        asio::post(threads_.front()->io, [this] {
            boost::system::error_code ignored;
            acceptor_->close(ignored);
        });
        for_each_connection([](Connection& connection) { connection.end_if_idle(); });
        std::unique_lock lock{mutex_};
        if (!all_gone_.wait_for(lock, patience, [this] { return connections_ == 0; })) {
            lock.unlock();
            for_each_connection([](Connection& connection) { connection.abort(); });
        }
    }

private:
    // Marks every thread as draining and visits its connections, on that thread.
    template <class Visit>
    void for_each_connection(Visit visit) {
        for (const auto& thread : threads_) {
            asio::post(thread->io, [&thread = *thread, visit] {
                thread.draining = true;
                for (Connection* connection : thread.connections) {
                    visit(*connection);
                }
            });
        }
    }

    asio::awaitable<void> accept() {
        std::size_t next = 0;
        while (acceptor_->is_open()) {
            IoThread& thread = *threads_[next++ % threads_.size()];
            boost::system::error_code error;
            tcp::socket socket =
                co_await acceptor_->async_accept(thread.io, asio::redirect_error(asio::use_awaitable, error));
            if (error) {
                // Out of descriptors, most likely: waiting is all that helps.
                asio::steady_timer pause{threads_.front()->io, kAcceptPause};
                co_await pause.async_wait(asio::redirect_error(asio::use_awaitable, error));
                continue;
            }
            const bool welcome = connections_.fetch_add(1) < shared_.options.connections_max;
            asio::co_spawn(thread.io,
                           welcome ? serve_connection(std::move(socket), thread, shared_)
                                   : turn_away(std::move(socket), thread),
                           [this](const std::exception_ptr&) { leave(); });
        }
    }

    void leave() {
        if (connections_.fetch_sub(1) == 1) {
            const std::lock_guard lock{mutex_};
            all_gone_.notify_all();
        }
    }

    // Ends what waits for too long, and keeps the time of day at hand.
    static asio::awaitable<void> sweep(IoThread& thread) {
        asio::steady_timer timer{thread.io};
        for (;;) {
            timer.expires_after(kSweep);
            boost::system::error_code error;
            co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, error));
            const auto now = std::chrono::steady_clock::now();
            for (Connection* connection : thread.connections) {
                connection->expire(now);
            }
            thread.date_line = date_line(std::time(nullptr));
        }
    }

    SessionWorld shared_;
    std::vector<std::unique_ptr<IoThread>> threads_;
    std::unique_ptr<tcp::acceptor> acceptor_;
    std::uint16_t port_ = 0;
    std::atomic<std::size_t> connections_ = 0;
    std::mutex mutex_;
    std::condition_variable all_gone_;  // Under mutex_: connections_ fell to 0.
    std::vector<std::jthread> runners_;
};

}  // namespace

Result<std::unique_ptr<Server>, std::string> start_server(const ServerOptions& options, ServerWorld world) {
    auto server = std::make_unique<ServerImpl>(options, std::move(world));
    if (const auto error = server->listen()) {
        return Unexpected{"Cannot listen on " + options.host + ":" + std::to_string(options.port) + ": " +
                          error.message() + "."};
    }
    server->start();
    return std::unique_ptr<Server>{std::move(server)};
}

}  // namespace sluice::http
