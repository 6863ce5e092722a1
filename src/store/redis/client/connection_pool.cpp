#include "store/redis/client/connection_pool.hpp"

#include <algorithm>
#include <cassert>
#include <iterator>

namespace sluice::redis {

ConnectionPool::ConnectionPool(Opener opener, std::size_t max, ServerWatchSettings watched)
    : opener_{std::move(opener)},
      max_{max},
      server_{watched.server},
      watch_{std::move(watched), [this] { return open_one(); }, [this] { wake_all(); }},
      thread_{[this](const std::stop_token& stop) { tend(stop); }} {
    assert(max_ >= 1);
}

ConnectionPool::~ConnectionPool() {
    thread_.request_stop();
    thread_.join();
    const std::lock_guard lock{mutex_};
    assert(open_ == idle_.size() && waiting_ == 0);
}

Result<void, std::string> ConnectionPool::open_first() {
    const auto trouble = open_one();
    return trouble ? Unexpected{*trouble} : Result<void, std::string>{};
}

std::unique_ptr<Connection> ConnectionPool::take(Deadline deadline) {
    std::unique_lock lock{mutex_};
    while (!watch_.down()) {
        if (idle_.empty()) {
            ++waiting_;
            wanted_.notify_one();
            freed_.wait_until(lock, deadline, [this] { return !idle_.empty() || watch_.down(); });
            --waiting_;
            if (idle_.empty()) {
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
    return nullptr;
}

void ConnectionPool::give_back(std::unique_ptr<Connection> connection) {
    const bool good = connection != nullptr && connection->alive();
    const std::lock_guard lock{mutex_};
    if (good && fits(*connection)) {
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
    only_ = server;
    const auto others =
        std::partition(idle_.begin(), idle_.end(), [&](const auto& each) { return fits(*each); });
    std::move(others, idle_.end(), std::back_inserter(dropped));
    idle_.erase(others, idle_.end());
    open_ -= dropped.size();
    wanted_.notify_one();
}

// One is opened for those who wait, and, once there has been one, so that the next caller need not wait.
// While something is wrong the watch does it.
bool ConnectionPool::wants_one() const {
    return watch_.calm() && open_ < max_ && (waiting_ > idle_.size() || (was_open_ && open_ == 0));
}

void ConnectionPool::tend(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        {
            std::unique_lock lock{mutex_};
            wanted_.wait(lock, stop, [this] { return wants_one(); });
        }
        if (stop.stop_requested()) {
            return;
        }
        if (const auto trouble = open_one()) {
            watch_.failed(*trouble);
        }
    }
}

std::optional<std::string> ConnectionPool::open_one() {
    auto opened = opener_();
    const std::lock_guard lock{mutex_};
    trouble_ = opened ? "" : opened.error();
    if (!opened) {
        return trouble_;
    }
    if (!fits(**opened)) {
        return server_ + " was replaced";
    }
    if (open_ < max_) {
        idle_.push_back(std::move(*opened));
        ++open_;
        was_open_ = true;
        freed_.notify_one();
    }
    return std::nullopt;
}

std::string ConnectionPool::why_none_is_free() const {
    const std::lock_guard lock{mutex_};
    return trouble_.empty() ? server_ + " does not answer in time: no connection became free" : trouble_;
}

void ConnectionPool::wake_all() {
    const std::lock_guard lock{mutex_};
    freed_.notify_all();
    wanted_.notify_one();
}

}  // namespace sluice::redis
