#pragma once

#include <string_view>

#include "app/dispatch/work_store.hpp"
#include "store/postgres/client/connection.hpp"

namespace sluice::postgres {

// A store of works on a server that several nodes share. The store of slots on the same server brings works
// into its tables, and listens to other nodes for both.
// Thread safety: all of it.
class SharedWorkStore : public WorkStore {
public:
    // This node has committed works; the earliest of them is due then.
    virtual void note_added(Instant due) = 0;
    // This node, or another, has changed configs.
    virtual void note_configs() = 0;

    // What a session said on channel `sluice`. What is not about works is passed over.
    virtual void heed(std::string_view said) = 0;
    // From now on everything is heard; what was said before may not have been.
    virtual void forget_all() = 0;
    // Every second, on the connection that listens. False: the connection was lost by it.
    virtual bool look_around(Connection& connection) = 0;
};

}  // namespace sluice::postgres
