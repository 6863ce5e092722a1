#include "store/redis/connection_pool.hpp"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <random>

namespace sluice::redis {
namespace {

constexpr Backoff::Bounds kBackoff{std::chrono::milliseconds{20}, std::chrono::milliseconds{1000}};

}  // namespace

ConnectionPool::ConnectionPool(Opener opener, std::size_t max)
    : opener_{std::move(opener)},
      max_{max},
      backoff_{kBackoff, std::random_device{}()},
      thread_{[this](const std::stop_token& stop) { tend(stop); }} {
    assert(max_ >= 1);
}

ConnectionPool::~ConnectionPool() {
    thread_.request_stop();
    thread_.join();
    assert(open_ == idle_.size() && waiting_ == 0);
}

Result<void, std::string> ConnectionPool::open_first() {
    auto opened = opener_();
    if (!opened) {
        return Unexpected{opened.error()};
    }
    const std::lock_guard lock{mutex_};
    idle_.push_back(std::move(*opened));
    ++open_;
    was_open_ = true;
    freed_.notify_one();
    return {};
}

std::unique_ptr<Connection> ConnectionPool::take(Deadline deadline) {
    std::unique_lock lock{mutex_};
    while (true) {
        if (idle_.empty()) {
            ++waiting_;
            wanted_.notify_one();
            const bool decided = freed_.wait_until(
                lock, deadline, [this] { return !idle_.empty() || (unreachable_ && open_ == 0); });
            --waiting_;
            if (!decided || idle_.empty()) {
                return nullptr;
            }
        }
        auto connection = std::move(idle_.back());
        idle_.pop_back();
        if (connection->alive()) {
            return connection;
        }
        --open_;
    }
}

void ConnectionPool::give_back(std::unique_ptr<Connection> connection) {
    const bool good = connection != nullptr && connection->alive();
    const std::lock_guard lock{mutex_};
    if (good) {
        idle_.push_back(std::move(connection));
        freed_.notify_one();
    } else {
        --open_;
        wanted_.notify_one();
    }
}

void ConnectionPool::drop_idle() {
    std::vector<std::unique_ptr<Connection>> dropped;  // Closed when the lock is free again.
    const std::lock_guard lock{mutex_};
    dropped.swap(idle_);
    open_ -= dropped.size();
    wanted_.notify_one();
}

void ConnectionPool::keep_only(const Endpoint& server) {
    std::vector<std::unique_ptr<Connection>> dropped;
    const std::lock_guard lock{mutex_};
    const auto others = std::partition(idle_.begin(), idle_.end(),
                                       [&](const auto& each) { return each->endpoint() == server; });
    std::move(others, idle_.end(), std::back_inserter(dropped));
    idle_.erase(others, idle_.end());
    open_ -= dropped.size();
    wanted_.notify_one();
}

// One is opened for those who wait, and, once there has been one, so that the next caller need not wait.
bool ConnectionPool::wants_one() const {
    return open_ < max_ && (waiting_ > idle_.size() || (was_open_ && open_ == 0));
}

void ConnectionPool::tend(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        {
            std::unique_lock lock{mutex_};
            wanted_.wait(lock, stop, [this] { return wants_one(); });
            wanted_.wait_until(lock, stop, retry_at_, [] { return false; });
            if (stop.stop_requested() || !wants_one()) {
                continue;
            }
        }
        open_one();
    }
}

void ConnectionPool::open_one() {
    auto opened = opener_();
    const std::lock_guard lock{mutex_};
    unreachable_ = !opened;
    if (opened) {
        idle_.push_back(std::move(*opened));
        ++open_;
        was_open_ = true;
        backoff_.reset();
    } else {
        retry_at_ = Clock::now() + backoff_.next();
    }
    freed_.notify_all();
}

}  // namespace sluice::redis
