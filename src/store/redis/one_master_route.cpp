#include <vector>

#include "store/redis/routes.hpp"

namespace sluice::redis {
namespace {

using Failed = Unexpected<std::string>;
using Words = std::vector<std::string>;
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

private:
    std::shared_ptr<ConnectionPool> pool_;
};

OpenedRoutes opened(ConnectionPool::Opener opener, std::size_t connections_max) {
    auto route = std::make_unique<OneMasterRoute>(std::move(opener), connections_max);
    if (auto first = route->open_first(); !first) {
        return Failed{first.error()};
    }
    return std::unique_ptr<Routes>{std::move(route)};
}

// Sentinels often have no password where the servers have one, and refuse one that they do not want.
OpenedConnection greet_sentinel(const Endpoint& sentinel, const Greeting& greeting) {
    Greeting stranger = greeting;
    stranger.password.clear();
    auto connection = greet(sentinel, stranger, Wanted::Anything);
    return connection || greeting.password.empty() ? std::move(connection)
                                                   : greet(sentinel, greeting, Wanted::Anything);
}

Result<Endpoint, std::string> ask_for_master(const Endpoint& sentinel, const RedisAddress& address,
                                             const Greeting& greeting) {
    auto connection = greet_sentinel(sentinel, greeting);
    if (!connection) {
        return Failed{connection.error()};
    }
    const auto reply = (*connection)
                           ->ask(Words{"SENTINEL", "GET-MASTER-ADDR-BY-NAME", address.master},
                                 std::chrono::steady_clock::now() + greeting.timeout);
    if (!reply || reply->size() != 2) {
        return Failed{"the sentinel at " + text_of(sentinel) + " knows no master '" + address.master + "'"};
    }
    const int port = std::atoi(std::string{reply->at(1).text()}.c_str());
    return Endpoint{std::string{reply->at(0).text()}, static_cast<std::uint16_t>(port)};
}

// The first sentinel whose master says that it is one. Others may not have heard of a failover yet.
OpenedConnection greet_master(const RedisAddress& address, const Greeting& greeting) {
    std::string problem;
    for (const Endpoint& sentinel : address.nodes) {
        const auto master = ask_for_master(sentinel, address, greeting);
        if (!master) {
            problem = master.error();
            continue;
        }
        auto connection = greet(*master, greeting, Wanted::Master);
        if (connection) {
            return connection;
        }
        problem = connection.error();
    }
    return Failed{problem};
}

}  // namespace

OpenedRoutes open_single_route(const Endpoint& server, const Greeting& greeting,
                               std::size_t connections_max) {
    return opened([server, greeting] { return greet(server, greeting, Wanted::Limits); }, connections_max);
}

OpenedRoutes open_sentinel_route(const RedisAddress& address, const Greeting& greeting,
                                 std::size_t connections_max) {
    return opened([address, greeting] { return greet_master(address, greeting); }, connections_max);
}

}  // namespace sluice::redis
