#include "store/postgres/client/connection_pool.hpp"

#include <algorithm>
#include <cassert>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "store/postgres/client/server_lives.hpp"

namespace sluice::postgres {
namespace {

using std::chrono::milliseconds;

constexpr const char* kComponent = "ConnectionPool";
constexpr milliseconds kLongWait{1000};
constexpr milliseconds kProbeEvery{1000};
constexpr Backoff::Bounds kBackoff{milliseconds{50}, milliseconds{2000}};
constexpr Statement kProbe{"sluice_probe", "select 1"};

std::string in_milliseconds(std::chrono::steady_clock::duration time) {
    return std::to_string(std::chrono::duration_cast<milliseconds>(time).count()) + " ms";
}

}  // namespace

Lease::Lease(ConnectionPool& pool, ShareStanding& share, std::unique_ptr<Connection> connection)
    : pool_{&pool}, share_{&share}, connection_{std::move(connection)} {}

Lease::~Lease() {
    if (connection_) {
        pool_->give_back(*share_, std::move(connection_));
    }
}

ConnectionPool::ConnectionPool(PoolSettings settings, Log& log, PoolMetrics& metrics)
    : settings_{std::move(settings)},
      log_{log},
      metrics_{metrics},
      backoff_{kBackoff, std::random_device{}()},
      shares_(1),
      retry_at_{Clock::now()},
      answered_at_{Clock::now() - 2 * kLately},
      thread_{[this](const std::stop_token& stop) { tend(stop); }} {
    assert(settings_.max >= 1 && settings_.min <= settings_.max);
    shares_.front().lock_timeout = settings_.connect.lock_timeout;
}

ShareStanding& ConnectionPool::add_share(ShareWishes wishes) {
    const std::lock_guard lock{mutex_};
    ShareStanding& share = shares_.emplace_back();
    share.least = wishes.least;
    share.lock_timeout = wishes.lock_timeout.value_or(settings_.connect.lock_timeout);
    divide();
    return share;
}

void ConnectionPool::remove_share(ShareStanding& share) {
    const std::lock_guard lock{mutex_};
    assert(share.in_use == 0 && share.waiting == 0);
    shares_.remove_if([&](const ShareStanding& each) { return &each == &share; });
    divide();
    wake_all();
}

void ConnectionPool::divide() {
    const std::size_t users = std::max<std::size_t>(shares_.size() - 1, 1);
    const auto wish = [&](const ShareStanding& share) {
        return &share == &shares_.front() ? 0 : std::max(share.least, settings_.max / 2 / users);
    };
    std::size_t least = 0;
    std::size_t wished = 0;
    for (const ShareStanding& share : shares_) {
        least += share.least;
        wished += wish(share);
    }
    for (ShareStanding& share : shares_) {
        share.kept = least > settings_.max ? 0 : wished > settings_.max ? share.least : wish(share);
    }
}

ConnectionPool::~ConnectionPool() {
    thread_.request_stop();
    thread_.join();
    assert(in_use_ == 0 && waiting_ == 0);
}

Result<Lease, Failure> ConnectionPool::take(Clock::time_point deadline) {
    return take(shares_.front(), deadline);
}

Result<Lease, Failure> ConnectionPool::take(ShareStanding& share, Clock::time_point deadline) {
    const auto start = Clock::now();
    // Bounded, because the standard library adds to a deadline when it changes clocks.
    auto got = wait_for_idle(share, std::min(deadline, start + std::chrono::hours{1}));
    report(Clock::now() - start);
    if (!got) {
        return Unexpected{std::move(got).error()};
    }
    return Lease{*this, share, std::move(*got)};
}

Result<std::unique_ptr<Connection>, Failure> ConnectionPool::wait_for_idle(ShareStanding& share,
                                                                           Clock::time_point deadline) {
    std::unique_lock lock{mutex_};
    const auto can_take = [&] { return !idle_.empty() && may_use(share); };
    while (true) {
        bool in_time = true;
        if (!can_take()) {
            ++waiting_;
            ++share.waiting;
            disturbed_.notify_one();
            in_time = share.freed.wait_until(lock, deadline, [&] {
                return can_take() || (unreachable_ && in_use_ == 0);  // Then nothing will be freed.
            });
            --waiting_;
            --share.waiting;
        }
        if (can_take()) {
            if (auto connection = take_idle(share, lock)) {
                return connection;
            }
            continue;
        }
        if (!in_time) {
            return Unexpected{Failure{
                kNoneFree,
                "none of " + std::to_string(settings_.max) + " connections to PostgreSQL became free in time",
                false, false}};
        }
        return Unexpected{*unreachable_};
    }
}

std::unique_ptr<Connection> ConnectionPool::take_idle(ShareStanding& share,
                                                      std::unique_lock<std::mutex>& lock) {
    auto connection = pick_for(share);
    ++in_use_;
    ++share.in_use;
    lock.unlock();
    const bool alive = connection->alive();
    if (alive && connection->set_lock_timeout(share.lock_timeout)) {
        return connection;
    }
    if (alive) {
        give_back(share, std::move(connection));
        lock.lock();
        return nullptr;
    }
    connection.reset();
    lock.lock();
    --in_use_;
    --share.in_use;
    wake_all();
    return nullptr;
}

bool ConnectionPool::may_use(const ShareStanding& share) const {
    std::size_t kept = 0;
    for (const ShareStanding& other : shares_) {
        kept += &other == &share ? 0 : other.kept - std::min(other.kept, other.in_use);
    }
    return in_use_ + kept < settings_.max;
}

std::unique_ptr<Connection> ConnectionPool::pick_for(const ShareStanding& share) {
    // One that waits for locks as long as this share does need not be told; the latest used of those.
    auto picked = std::find_if(idle_.rbegin(), idle_.rend(), [&](const Idle& idle) {
        return idle.connection->lock_timeout() == share.lock_timeout;
    });
    picked = picked == idle_.rend() ? idle_.rbegin() : picked;
    auto connection = std::move(picked->connection);
    idle_.erase(std::next(picked).base());
    return connection;
}

void ConnectionPool::wake_some() {
    for (ShareStanding& share : shares_) {
        share.freed.notify_one();
    }
}

void ConnectionPool::wake_all() {
    for (ShareStanding& share : shares_) {
        share.freed.notify_all();
    }
}

void ConnectionPool::report(Clock::duration waited) const {
    metrics_.waited(std::chrono::duration_cast<std::chrono::nanoseconds>(waited));
    if (waited > kLongWait) {
        log_.write(LogLevel::Warn, kComponent,
                   "a caller waited " + in_milliseconds(waited) + " for a connection to PostgreSQL");
    }
}

void ConnectionPool::give_back(ShareStanding& share, std::unique_ptr<Connection> connection) {
    if (!connection->reset()) {
        connection.reset();  // Closed before the lock is taken.
    }
    std::deque<Idle> suspects;
    const std::lock_guard lock{mutex_};
    --in_use_;
    --share.in_use;
    if (connection) {
        answered_at_ = std::max(answered_at_, connection->heard_at());  // Who asked nothing heard nothing.
        idle_.push_back({std::move(connection), Clock::now()});
        wake_some();
    } else {
        suspects = lost_one();
    }
}

std::deque<ConnectionPool::Idle> ConnectionPool::lost_one() {
    wake_all();  // One less to wait for.
    disturbed_.notify_one();
    // A server that is frozen, or behind a dead network, closes nothing. Each idle connection would cost
    // somebody a whole time-out to find that out.
    auto suspects = Clock::now() - answered_at_ > kLately ? std::exchange(idle_, {}) : std::deque<Idle>{};
    for (const Idle& suspect : suspects) {
        suspect.connection->abandon();
    }
    return suspects;
}

bool ConnectionPool::ready() const {
    const std::lock_guard lock{mutex_};
    return Clock::now() - answered_at_ <= kLately;
}

PoolFigures ConnectionPool::figures() const {
    const std::lock_guard lock{mutex_};
    return {in_use_, idle_.size(), waiting_};
}

void ConnectionPool::tend(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        sort_out();
        switch (await_task(stop)) {
            case Task::Open: open_one(); break;
            case Task::Close: close_oldest(); break;
            case Task::Probe: probe(); break;
            case Task::Rest: break;
        }
    }
}

ConnectionPool::Task ConnectionPool::await_task(const std::stop_token& stop) {
    std::unique_lock lock{mutex_};
    disturbed_.wait_until(lock, stop, next_time(), [this] { return next_task(Clock::now()) != Task::Rest; });
    return stop.stop_requested() ? Task::Rest : next_task(Clock::now());
}

ConnectionPool::Task ConnectionPool::next_task(Clock::time_point now) const {
    // While the server is away nobody waits: the pool alone finds out when it is back.
    const bool away = unreachable_ && open_count() == 0;
    std::size_t servable = 0;  // Those who wait, and may have one when there is one.
    for (const ShareStanding& share : shares_) {
        servable += may_use(share) ? share.waiting : 0;
    }
    const bool wanted = open_count() < settings_.min || servable > idle_.size() || away;
    if (wanted && may_open() && now >= retry_at_) {
        return Task::Open;
    }
    if (idle_.empty()) {
        return Task::Rest;
    }
    if (above_min() && now - idle_.front().since >= settings_.idle_max) {
        return Task::Close;
    }
    return now - answered_at_ >= kProbeEvery ? Task::Probe : Task::Rest;
}

ConnectionPool::Clock::time_point ConnectionPool::next_time() const {
    const auto now = Clock::now();
    auto next = now + kProbeEvery;
    if (retry_at_ > now) {
        next = std::min(next, retry_at_);
    }
    if (!idle_.empty()) {
        next = std::min(next, answered_at_ + kProbeEvery);
    }
    if (!idle_.empty() && above_min()) {
        next = std::min(next, idle_.front().since + settings_.idle_max);
    }
    return next;
}

bool ConnectionPool::may_open() const {
    // Sessions that were left on the server count, until the next connection has ended them.
    const auto& lives = settings_.connect.lives;
    const std::size_t left = lives ? lives->abandoned() : 0;
    return open_count() == 0 || open_count() + left < settings_.max;
}

void ConnectionPool::sort_out() {
    std::vector<std::unique_ptr<Connection>> useless;  // Closed without the lock.
    const std::lock_guard lock{mutex_};
    std::erase_if(idle_, [&](Idle& idle) {
        if (idle.connection->usable()) {
            return false;
        }
        useless.push_back(std::move(idle.connection));
        return true;
    });
}

void ConnectionPool::open_one() {
    auto opened = Connection::open(settings_.connect);
    std::optional<Failure> before;
    {
        const std::lock_guard lock{mutex_};
        before = std::exchange(unreachable_, std::nullopt);
        if (opened) {
            backoff_.reset();
            answered_at_ = Clock::now();
            idle_.push_back({std::move(*opened), answered_at_});
        } else {
            unreachable_ = opened.error();
            retry_at_ = Clock::now() + backoff_.next();
        }
        wake_all();
    }
    if (opened && before) {
        log_.write(LogLevel::Info, kComponent, "PostgreSQL can be reached again");
    } else if (!opened && !before) {
        log_.write(LogLevel::Warn, kComponent,
                   "PostgreSQL cannot be reached, trying on: " + opened.error().message);
    }
}

void ConnectionPool::close_oldest() {
    std::unique_ptr<Connection> oldest;
    const std::lock_guard lock{mutex_};
    if (next_task(Clock::now()) == Task::Close) {
        oldest = std::move(idle_.front().connection);
        idle_.pop_front();
    }
}

void ConnectionPool::probe() {
    std::unique_ptr<Connection> connection;
    Clock::time_point since;
    {
        const std::lock_guard lock{mutex_};
        if (idle_.empty()) {
            return;
        }
        connection = std::move(idle_.front().connection);
        since = idle_.front().since;
        idle_.pop_front();
        ++in_use_;
    }
    const bool answered = connection->run(kProbe).has_value();
    if (!answered) {
        connection.reset();
    }
    std::deque<Idle> suspects;
    const std::lock_guard lock{mutex_};
    --in_use_;
    if (answered) {
        answered_at_ = Clock::now();
        // To the front with its old time: being asked is not being used.
        idle_.push_front({std::move(connection), since});
        wake_some();
    } else {
        suspects = lost_one();
    }
}

}  // namespace sluice::postgres
