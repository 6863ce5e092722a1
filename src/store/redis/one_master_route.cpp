#include <condition_variable>
#include <mutex>
#include <thread>

#include "store/redis/routes.hpp"
#include "store/redis/sentinels.hpp"

namespace sluice::redis {
namespace {

using Failed = Unexpected<std::string>;
using OpenedConnection = Result<std::unique_ptr<Connection>, std::string>;

// One server that has everything: a single one, or the master that sentinels name.
class OneMasterRoute final : public Routes {
public:
    OneMasterRoute(ConnectionPool::Opener opener, std::size_t connections_max)
        : pool_{std::make_shared<ConnectionPool>(std::move(opener), connections_max)} {}

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

// Looks again and again whom the sentinels call master. One that was replaced may live on for seconds and
// answer; what is charged there is lost.
class SentinelRoute final : public Routes {
public:
    SentinelRoute(const RedisAddress& address, const Greeting& greeting, std::size_t connections_max)
        : sentinels_{address, greeting},
          greeting_{greeting},
          route_{[this] { return open(); }, connections_max} {}

    Result<void, std::string> open_first() {
        auto first = route_.open_first();
        if (first) {
            thread_ = std::jthread{[this](const std::stop_token& stop) { watch(stop); }};
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

    OpenedConnection open() {
        const auto master = sentinels_.master();
        if (!master) {
            return Failed{master.error()};
        }
        return greet(*master, greeting_, Wanted::Master);
    }

    void watch(const std::stop_token& stop) {
        std::mutex mutex;
        std::condition_variable_any nothing;
        std::unique_lock lock{mutex};
        while (!stop.stop_requested()) {
            if (const auto master = sentinels_.master()) {
                route_.to(0)->keep_only(*master);
            }
            nothing.wait_for(lock, stop, kEvery, [] { return false; });
        }
    }

    Sentinels sentinels_;
    const Greeting greeting_;
    OneMasterRoute route_;
    std::jthread thread_;
};

}  // namespace

OpenedRoutes open_single_route(const Endpoint& server, const Greeting& greeting,
                               std::size_t connections_max) {
    return opened(std::make_unique<OneMasterRoute>(
        [server, greeting] { return greet(server, greeting, Wanted::Alone); }, connections_max));
}

OpenedRoutes open_sentinel_route(const RedisAddress& address, const Greeting& greeting,
                                 std::size_t connections_max) {
    return opened(std::make_unique<SentinelRoute>(address, greeting, connections_max));
}

}  // namespace sluice::redis
