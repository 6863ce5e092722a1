#include <atomic>
#include <optional>

#include "store/redis/client/routes.hpp"
#include "store/redis/client/sentinels.hpp"

namespace sluice::redis {
namespace {

using Failed = Unexpected<std::string>;
using OpenedConnection = Result<std::unique_ptr<Connection>, std::string>;

// One server that has everything: a single one, or the master that sentinels name.
class OneMasterRoute final : public Routes {
public:
    OneMasterRoute(ConnectionPool::Opener opener, const PoolWishes& wishes, std::string server)
        : pool_{std::make_shared<ConnectionPool>(
              std::move(opener), wishes.connections_max,
              ServerWatchSettings{std::move(server), wishes.patience, wishes.runtime, wishes.observer})} {}

    Result<void, std::string> open_first() { return pool_->open_first(); }

    [[nodiscard]] bool splits() const override { return false; }
    std::shared_ptr<ConnectionPool> to(std::uint16_t /*slot*/) override { return pool_; }
    std::shared_ptr<ConnectionPool> at(const Endpoint& /*endpoint*/) override { return nullptr; }
    void moved(std::uint16_t /*slot*/, const Endpoint& /*endpoint*/) override {}
    // The others lead to the same server; each would cost somebody a time-out to find that out.
    void lost(ConnectionPool& pool) override { pool.drop_idle(); }
    void missed() override {}

private:
    std::shared_ptr<ConnectionPool> pool_;
};

template <class Route>
OpenedRoutes opened(std::unique_ptr<Route> route) {
    if (auto first = route->open_first(); !first) {
        return Failed{first.error()};
    }
    return std::unique_ptr<Routes>{std::move(route)};
}

// "Redis master 'main' of the sentinels 10.0.0.1:26379 10.0.0.2:26379"
std::string name_of(const RedisAddress& address) {
    std::string name = "Redis master '" + address.master + "' of the sentinels";
    for (const Endpoint& sentinel : address.nodes) {
        name += " " + sentinel.text();
    }
    return name;
}

// Looks again and again whom the sentinels call master. One that was replaced may live on for seconds and
// answer; what is charged there is lost.
class SentinelRoute final : public Routes {
public:
    SentinelRoute(const RedisAddress& address, const Greeting& greeting, const PoolWishes& wishes)
        : sentinels_{address, greeting},
          greeting_{greeting},
          trial_{wishes.trial},
          runtime_{wishes.runtime},
          route_{[this] { return open(); }, wishes, name_of(address)} {}

    Result<void, std::string> open_first() {
        pool_.store(route_.to(0).get(), std::memory_order_relaxed);
        auto first = route_.open_first();
        if (first) {
            looks_.emplace(runtime_, Repeating::Pause{0},
                           [this](const std::stop_token& /*stop*/) { return look(); });
        }
        return first;
    }

    [[nodiscard]] bool splits() const override { return false; }
    std::shared_ptr<ConnectionPool> to(std::uint16_t slot) override { return route_.to(slot); }
    std::shared_ptr<ConnectionPool> at(const Endpoint& endpoint) override { return route_.at(endpoint); }
    void moved(std::uint16_t slot, const Endpoint& endpoint) override { route_.moved(slot, endpoint); }
    void lost(ConnectionPool& pool) override { route_.lost(pool); }
    void missed() override { route_.missed(); }

private:
    static constexpr std::chrono::milliseconds kEvery{100};
    static constexpr std::chrono::milliseconds kInFailover{10};

    OpenedConnection open() {
        const auto master = sentinels_.master();
        if (!master) {
            return Failed{master.error()};
        }
        // By its address: the pool's own threads come here until it is gone.
        pool_.load(std::memory_order_relaxed)->keep_only(*master);
        return tried(greet(*master, greeting_, Wanted::Master), trial_, 0);
    }

    std::chrono::milliseconds look() {
        if (const auto master = sentinels_.master()) {
            route_.to(0)->keep_only(*master);
        }
        return sentinels_.in_failover() ? kInFailover : kEvery;
    }

    Sentinels sentinels_;
    const Greeting greeting_;
    const Trial trial_;
    Runtime& runtime_;
    std::atomic<ConnectionPool*> pool_ = nullptr;  // The route's. Set before anything is opened.
    OneMasterRoute route_;
    std::optional<Repeating> looks_;  // Last: they use all the rest.
};

}  // namespace

OpenedRoutes open_single_route(const Endpoint& server, const Greeting& greeting, const PoolWishes& wishes) {
    return opened(std::make_unique<OneMasterRoute>(
        [server, greeting, trial = wishes.trial] {
            return tried(greet(server, greeting, Wanted::Alone), trial, 0);
        },
        wishes, "Redis at " + server.text()));
}

OpenedRoutes open_sentinel_route(const RedisAddress& address, const Greeting& greeting,
                                 const PoolWishes& wishes) {
    return opened(std::make_unique<SentinelRoute>(address, greeting, wishes));
}

}  // namespace sluice::redis
