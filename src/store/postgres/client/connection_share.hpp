#pragma once

#include "store/postgres/client/connection_pool.hpp"

namespace sluice::postgres {

// A share of a pool.
// REQUIRES: the pool outlives it, and all that was taken is back when it goes.
class ConnectionShare final : public ConnectionSource {
public:
    ConnectionShare(ConnectionPool& pool, ShareWishes wishes)
        : pool_{pool}, standing_{pool.add_share(wishes)} {}
    ~ConnectionShare() override { pool_.remove_share(standing_); }
    ConnectionShare(const ConnectionShare&) = delete;
    ConnectionShare& operator=(const ConnectionShare&) = delete;

    Result<Lease, Failure> take(Clock::time_point deadline) override {
        return pool_.take(standing_, deadline);
    }

private:
    ConnectionPool& pool_;
    ShareStanding& standing_;
};

}  // namespace sluice::postgres
