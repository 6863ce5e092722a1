#pragma once

#include <memory>

#include "store/redis/client/connection_pool.hpp"
#include "store/redis/client/greeting.hpp"

namespace sluice::redis {

// Which server holds what. Pools are shared with the calls that use them: a server may leave the Cluster
// meanwhile.
// Thread safety: all of it.
class Routes {
public:
    virtual ~Routes() = default;

    // Whether keys of different slots may lie on different servers.
    [[nodiscard]] virtual bool splits() const = 0;
    // As LimitStore means them: slots of different servers are in different lanes, as far as there are
    // enough.
    [[nodiscard]] virtual std::size_t lanes() const { return 1; }
    [[nodiscard]] virtual std::size_t lane(std::uint16_t /*slot*/) { return 0; }
    // The server of a slot. Null: nobody is known to have it at the moment.
    virtual std::shared_ptr<ConnectionPool> to(std::uint16_t slot) = 0;
    // A server by its address. Null: it cannot be one of ours.
    virtual std::shared_ptr<ConnectionPool> at(const Endpoint& endpoint) = 0;

    // A server said that the slot is there now.
    virtual void moved(std::uint16_t slot, const Endpoint& endpoint) = 0;
    // A connection was lost, or leads to a server that is no master: what is known of it may be old.
    virtual void lost(ConnectionPool& pool) = 0;
    // No connection could be had in time: the server is away, or all were in use.
    virtual void missed() = 0;
};

// Lets a server do its work once, for a key in this slot. Says why it does not; the sentence names it.
using Trial = std::function<std::optional<std::string>(Connection&, std::uint16_t slot)>;

// How a store wants its pools.
struct PoolWishes {
    std::size_t connections_max;
    std::chrono::milliseconds patience;  // As ServerWatchSettings say.
    Runtime& runtime;                    // Outlives them.
    ServerObserver* observer;
    Trial trial;
};

// What greet() gave, unless the server fails the trial.
Result<std::unique_ptr<Connection>, std::string> tried(
    Result<std::unique_ptr<Connection>, std::string> greeted, const Trial& trial, std::uint16_t slot);

// All fail with one sentence if they cannot connect.
using OpenedRoutes = Result<std::unique_ptr<Routes>, std::string>;
// Refuses a node of a Cluster, and a replica.
OpenedRoutes open_single_route(const Endpoint& server, const Greeting& greeting, const PoolWishes& wishes);
// Follows the master that the sentinels name.
OpenedRoutes open_sentinel_route(const RedisAddress& address, const Greeting& greeting,
                                 const PoolWishes& wishes);
OpenedRoutes open_cluster_routes(const RedisAddress& address, const Greeting& greeting,
                                 const PoolWishes& wishes);

}  // namespace sluice::redis
