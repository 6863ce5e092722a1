#include "net/listener.hpp"

#include <atomic>
#include <condition_variable>
#include <mutex>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace sluice::net {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

constexpr std::chrono::milliseconds kAcceptPause{50};

class ListenerImpl final : public Listener {
public:
    ListenerImpl(const ListenerOptions& options, const ListenerWorld& world)
        : options_{options}, world_{world}, acceptor_{first().io} {}

    boost::system::error_code listen() {
        boost::system::error_code error;
        const auto address = asio::ip::make_address(options_.host, error);
        const tcp::endpoint endpoint{address, options_.port};
        if (error || acceptor_.open(endpoint.protocol(), error) ||
            acceptor_.set_option(tcp::acceptor::reuse_address{true}, error) ||
            acceptor_.bind(endpoint, error) ||
            acceptor_.listen(asio::socket_base::max_listen_connections, error)) {
            return error;
        }
        port_ = acceptor_.local_endpoint().port();
        asio::co_spawn(first().io, accept(), asio::detached);
        return {};
    }

    std::uint16_t port() const override { return port_; }
    std::size_t connections_approx() const override { return connections_.load(std::memory_order_relaxed); }

    void drain(std::chrono::milliseconds patience) override {
        asio::post(first().io, [this] {
            boost::system::error_code ignored;
            acceptor_.close(ignored);
        });
        for_each_connection([](Connection& connection) { connection.end_if_idle(); });
        std::unique_lock lock{mutex_};
        if (!all_gone_.wait_for(lock, patience, [this] { return connections_ == 0; })) {
            lock.unlock();
            for_each_connection([](Connection& connection) { connection.abort(); });
        }
    }

private:
    IoThread& first() { return world_.threads.at(0); }

    // Marks every thread as draining and visits its connections, on that thread.
    template <class Visit>
    void for_each_connection(Visit visit) {
        for (std::size_t i = 0; i < world_.threads.size(); ++i) {
            asio::post(world_.threads.at(i).io, [&thread = world_.threads.at(i), visit] {
                thread.draining = true;
                for (Connection* connection : thread.connections) {
                    visit(*connection);
                }
            });
        }
    }

    asio::awaitable<void> accept() {
        std::size_t next = 0;
        while (acceptor_.is_open()) {
            IoThread& thread = world_.threads.at(next++ % world_.threads.size());
            boost::system::error_code error;
            tcp::socket socket =
                co_await acceptor_.async_accept(thread.io, asio::redirect_error(asio::use_awaitable, error));
            if (error) {
                // Out of descriptors, most likely: waiting is all that helps.
                asio::steady_timer pause{first().io, kAcceptPause};
                co_await pause.async_wait(asio::redirect_error(asio::use_awaitable, error));
                continue;
            }
            const bool welcome = connections_.fetch_add(1) < options_.connections_max;
            asio::co_spawn(thread.io,
                           welcome ? serve(std::move(socket), thread) : turn_away(std::move(socket), thread),
                           [this](const std::exception_ptr&) { leave(); });
        }
    }

    asio::awaitable<void> serve(tcp::socket socket, IoThread& thread) {
        Connection connection{std::move(socket), thread, options_.connection};
        if (world_.tls != nullptr) {
            const bool done = co_await begin_tls(connection);
            if (!done) {
                co_return;
            }
        }
        co_await world_.protocol.serve(connection);
        co_await connection.say_goodbye();
    }

    asio::awaitable<bool> begin_tls(Connection& connection) {
        if (connection.draining()) {
            co_return false;
        }
        const Handshake handshake =
            co_await connection.shake_hands(world_.tls->context(), options_.handshake_timeout);
        if (handshake == Handshake::Done) {
            co_return true;
        }
        if (world_.log.enabled(LogLevel::Debug)) {
            world_.log.write(LogLevel::Debug, "Listener",
                             connection.remote_address() +
                                 " failed in the TLS handshake: " + connection.handshake_fault());
        }
        if (connection.timed_out()) {
            co_return false;
        }
        if (handshake == Handshake::NoTls && !world_.protocol.answer_without_tls().empty()) {
            co_await connection.write(world_.protocol.answer_without_tls());
        }
        // The alert that says why, or the answer, must not be lost to a reset.
        co_await connection.linger();
        co_return false;
    }

    asio::awaitable<void> turn_away(tcp::socket socket, IoThread& thread) {
        Connection connection{std::move(socket), thread, options_.connection};
        if (world_.tls == nullptr) {
            co_await world_.protocol.turn_away(connection);
        }
    }

    void leave() {
        if (connections_.fetch_sub(1) == 1) {
            const std::lock_guard lock{mutex_};
            all_gone_.notify_all();
        }
    }

    const ListenerOptions options_;
    const ListenerWorld world_;
    tcp::acceptor acceptor_;
    std::uint16_t port_ = 0;
    std::atomic<std::size_t> connections_ = 0;
    std::mutex mutex_;
    std::condition_variable all_gone_;  // Under mutex_: connections_ fell to 0.
};

}  // namespace

Result<std::unique_ptr<Listener>, std::string> open_listener(const ListenerOptions& options,
                                                             const ListenerWorld& world) {
    auto listener = std::make_unique<ListenerImpl>(options, world);
    if (const auto error = listener->listen()) {
        return Unexpected{"Cannot listen on " + options.host + ":" + std::to_string(options.port) + ": " +
                          error.message() + "."};
    }
    return std::unique_ptr<Listener>{std::move(listener)};
}

}  // namespace sluice::net
